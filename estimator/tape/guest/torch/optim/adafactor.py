"""Adafactor: row and column means of squares for matrices, one tensor at a time."""

import torch
from torch.optim.optimizer import Optimizer, _run


class Adafactor(Optimizer):
    """Second moments factored into a row and a column; the foreach implementation is not the default."""

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None, maximize=False):
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay, foreach=foreach, maximize=maximize))

    @torch.no_grad()
    def step(self, closure=None):
        loss = _run(closure)
        for group in self.param_groups:
            for param in self._params(group):
                grad = param.grad
                state = self.state[param]
                if not state:
                    state["step"] = torch.tensor(0.0, dtype=torch.float32)
                    if grad.dim() > 1:
                        row = list(grad.shape)
                        row[-1] = 1
                        column = list(grad.shape)
                        column[-2] = 1
                        state["row_var"] = grad.new_zeros(row)
                        state["col_var"] = grad.new_zeros(column)
                    else:
                        state["variance"] = torch.zeros_like(grad)
                if grad.dim() > 1:
                    row_mean = torch.norm(grad, dim=-1, keepdim=True).square_().div_(grad.size(-1))
                    column_mean = torch.norm(grad, dim=-2, keepdim=True).square_().div_(grad.size(-2))
                    variance = state["row_var"] @ state["col_var"]
                    variance.div_(state["row_var"].mean(dim=-2, keepdim=True).clamp_(min=1e-30))
                else:
                    squares = grad.square()
                    variance = state["variance"].clone()
                update = variance.clamp_(min=1e-30).rsqrt_()
                update.mul_(grad)
                param.add_(update, alpha=-1.0)
        return loss
