"""Muon: one momentum a matrix, and an orthogonalised update in bfloat16."""

import torch
from torch.optim.optimizer import Optimizer, _run


class Muon(Optimizer):
    """For matrices only; one parameter at a time."""

    def __init__(
        self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None
    ):
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov, ns_steps=ns_steps))

    @torch.no_grad()
    def step(self, closure=None):
        loss = _run(closure)
        for group in self.param_groups:
            for param in self._params(group):
                state = self.state[param]
                if not state:
                    state["momentum_buffer"] = torch.zeros_like(param.grad)
                buffer = state["momentum_buffer"]
                update = torch.lerp(param.grad, buffer, group["momentum"]) if group["nesterov"] else buffer
                update = _orthogonal(update, group["ns_steps"])
                param.add_(update)
        return loss


def _orthogonal(grad, steps):
    """Newton-Schulz iterations on the smaller side."""
    x = grad.bfloat16()
    if grad.size(0) > grad.size(1):
        x = x.T
    x.div_(x.norm().clamp(min=1e-7))
    for _ in range(steps):
        gram = x @ x.T
        gram_update = torch.addmm(gram, gram, gram)
        x = torch.addmm(x, gram_update, x)
    return x.T if grad.size(0) > grad.size(1) else x
