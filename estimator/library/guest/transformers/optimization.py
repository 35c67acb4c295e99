"""The library's own optimizer. Mirrors transformers 5.24.0 (``optimization.py``): factored second moments, one parameter after another."""

import torch
from torch.optim.optimizer import Optimizer, _run
from transformers.schedules import *


class Adafactor(Optimizer):
    def __init__(
        self, params, lr=None, eps=(1e-30, 1e-3), clip_threshold=1.0, decay_rate=-0.8, beta1=None, weight_decay=0.0, scale_parameter=True,
        relative_step=True, warmup_init=False,
    ):  # fmt: skip
        options = dict(eps=eps, clip_threshold=clip_threshold, decay_rate=decay_rate, beta1=beta1, weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, scale_parameter=scale_parameter, relative_step=relative_step, warmup_init=warmup_init, **options))

    @torch.no_grad()
    def step(self, closure=None):
        loss = _run(closure)
        for group in self.param_groups:
            for param in self._params(group):
                self._update(param, param.grad.float(), self.state[param], group)
        return loss

    def _update(self, param, grad, state, group):
        factored = grad.dim() >= 2
        if not state:
            if group["beta1"] is not None:
                state["exp_avg"] = torch.zeros_like(grad)
            if factored:
                state["exp_avg_sq_row"] = torch.zeros(grad.shape[:-1], device=grad.device)
                state["exp_avg_sq_col"] = torch.zeros(grad.shape[:-2] + grad.shape[-1:], device=grad.device)
            else:
                state["exp_avg_sq"] = torch.zeros_like(grad)
        full = param.float()
        state["RMS"] = full.norm(2) / (full.numel() ** 0.5)
        update = (grad**2) + group["eps"][0]
        if factored:
            row, column = state["exp_avg_sq_row"], state["exp_avg_sq_col"]
            row.mul_(0.9).add_(update.mean(dim=-1))
            column.mul_(0.9).add_(update.mean(dim=-2))
            rows = (row / row.mean(dim=-1, keepdim=True)).rsqrt_().unsqueeze(-1)
            columns = column.unsqueeze(-2).rsqrt()
            update = torch.mul(rows, columns)
            update.mul_(grad)
        else:
            state["exp_avg_sq"].mul_(0.9).add_(update)
            update = state["exp_avg_sq"].rsqrt().mul_(grad)
        update.mul_(1.0)
        if group["beta1"] is not None:
            state["exp_avg"].mul_(0.9).add_(update)
            update = state["exp_avg"]
        if group["weight_decay"] != 0:
            full.add_(full, alpha=-1.0)
        full.add_(-update)
        if full is not param:
            param.copy_(full)
