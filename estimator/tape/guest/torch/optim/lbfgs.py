"""L-BFGS: all parameters as one row, and as many differences of steps and gradients as its history holds. Mirrors torch 2.14 (``optim/lbfgs.py``).

The history is full after a hundred iterations; it is filled at the first step, so that the next shows what every later one holds.
"""

import torch
from torch.optim.optimizer import Optimizer

#: Iterations of a step that are played: the others hold no more.
ITERATIONS = 2


class LBFGS(Optimizer):
    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100, line_search_fn=None):
        super().__init__(params, dict(lr=lr, max_iter=max_iter, history_size=history_size, line_search_fn=line_search_fn))
        self._params_in_all = self.param_groups[0]["params"]
        self.held = {"dirs": [], "steps": []}

    def _flat_gradient(self):
        return torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).view(-1) for p in self._params_in_all], 0)

    @torch.no_grad()
    def step(self, closure):
        closure = torch.enable_grad()(closure)
        loss = closure()
        gradient = self._flat_gradient()
        for iteration in range(ITERATIONS):
            if "direction" not in self.held:
                direction = gradient.neg()
            else:
                self._remember(gradient.sub(self.held["gradient"]), self.held["direction"].mul(1.0))
                direction = torch.mul(gradient.neg(), 1.0)
            self.held["gradient"] = gradient.clone()
            self.held["direction"] = direction
            if self.param_groups[0]["line_search_fn"] is not None:
                before = [p.clone() for p in self._params_in_all]
                bracket = [gradient.clone(), gradient.clone()]
                del before, bracket
            for p in self._params_in_all:
                p.add_(direction[: p.numel()].view_as(p))
            if iteration + 1 < ITERATIONS:
                loss = closure()
                gradient = self._flat_gradient()
        return loss

    def _remember(self, change, step):
        """One more pair of the history, which is full then."""
        size = self.param_groups[0]["history_size"]
        while len(self.held["dirs"]) < size - 1:
            self.held["dirs"].append(torch.empty_like(change))
            self.held["steps"].append(torch.empty_like(step))
        if len(self.held["dirs"]) == size:
            self.held["dirs"].pop(0)
            self.held["steps"].pop(0)
        self.held["dirs"].append(change)
        self.held["steps"].append(step)
