"""Prodigy: Adam that finds its own step; beside Adam's two moments each parameter keeps where it began and a running sum.

Mirrors prodigyopt 1.1 (``prodigy.py``), one parameter at a time.
"""

import torch
from torch.optim.optimizer import Optimizer, _run


class Prodigy(Optimizer):
    """``slice_p``: of the beginning and the sum only every so many elements are kept."""

    def __init__(self, params, lr=1.0, betas=(0.9, 0.999), beta3=None, eps=1e-8, weight_decay=0, decouple=True, slice_p=1, **options):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, slice_p=slice_p))

    @torch.no_grad()
    def step(self, closure=None):
        loss = _run(closure)
        for group in self.param_groups:
            every = group["slice_p"]
            for param in self._params(group):
                state = self.state[param]
                if not state:
                    state["s"] = torch.zeros_like(param.flatten()[::every])
                    state["p0"] = param.flatten()[::every].clone()
                    state["exp_avg"] = torch.zeros_like(param)
                    state["exp_avg_sq"] = torch.zeros_like(param)
                grad = param.grad
                moved = state["p0"] - param.flatten()[::every]
                del moved
                state["exp_avg"].mul_(group["betas"][0]).add_(grad, alpha=1.0)
                state["exp_avg_sq"].mul_(group["betas"][1]).addcmul_(grad, grad, value=1.0)
                state["s"].mul_(group["betas"][1]).add_(grad.flatten()[::every], alpha=1.0)
        for group in self.param_groups:
            for param in self._params(group):
                state = self.state[param]
                denominator = state["exp_avg_sq"].sqrt().add_(group["eps"])
                param.addcdiv_(state["exp_avg"], denominator, value=-1.0)
        return loss
