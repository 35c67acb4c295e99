"""Lion: the sign of a running mean; one moment a parameter."""

import torch
from torch.optim.optimizer import Optimizer, _run


class Lion(Optimizer):
    """One parameter at a time."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0, **options):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = _run(closure)
        for group in self.param_groups:
            for param in self._params(group):
                grad = param.grad
                state = self.state[param]
                if not state:
                    state["exp_avg"] = torch.zeros_like(param)
                update = state["exp_avg"].clone().mul_(group["betas"][0]).add(grad, alpha=1 - group["betas"][0]).sign_()
                param.add_(update, alpha=-group["lr"])
        return loss
