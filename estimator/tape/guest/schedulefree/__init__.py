"""Schedule-free optimizers: beside what the step keeps, each parameter has a second point, between which and the first the model is evaluated.

Mirrors schedulefree 1.4 (``adamw_schedulefree.py``, ``sgd_schedulefree.py``), the foreach way that is its default.
"""

import torch
from torch.optim.optimizer import Optimizer, _run


class _ScheduleFree(Optimizer):
    def train(self):
        self._between()

    def eval(self):
        self._between()

    @torch.no_grad()
    def _between(self):
        for group in self.param_groups:
            for param in group["params"]:
                if "z" in self.state[param]:
                    param.add_(self.state[param]["z"])


class AdamWScheduleFree(_ScheduleFree):
    def __init__(self, params, lr=0.0025, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, warmup_steps=0, r=0.0, weight_lr_power=2.0, foreach=True):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach))

    @torch.no_grad()
    def step(self, closure=None):
        loss = _run(closure)
        for group in self.param_groups:
            params = self._params(group)
            for param in params:
                state = self.state[param]
                if "z" not in state:
                    state["z"] = torch.clone(param)
                    state["exp_avg_sq"] = torch.zeros_like(param)
            if group["foreach"]:
                self._scaled(group, params)
            else:
                for param in params:
                    self._scaled(group, [param])
        return loss

    def _scaled(self, group, params):
        grads = [param.grad for param in params]
        denominators = torch._foreach_div([self.state[param]["exp_avg_sq"] for param in params], 1.0)
        torch._foreach_sqrt_(denominators)
        torch._foreach_add_(denominators, group["eps"])
        torch._foreach_div_(grads, denominators)


class SGDScheduleFree(_ScheduleFree):
    def __init__(self, params, lr=1.0, momentum=0.9, weight_decay=0, warmup_steps=0, r=0.0, weight_lr_power=2.0, foreach=True):
        super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay, foreach=foreach))

    @torch.no_grad()
    def step(self, closure=None):
        loss = _run(closure)
        for group in self.param_groups:
            for param in self._params(group):
                if "z" not in self.state[param]:
                    self.state[param]["z"] = torch.clone(param)
        return loss
