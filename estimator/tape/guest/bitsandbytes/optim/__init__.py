"""Optimizers with state in 8 bits: a byte an element and an fp32 scale for each block of 256; small tensors keep fp32 state.

Paged ones hold large state in managed memory, which PyTorch does not count.
"""

import torch
from torch.optim.optimizer import Optimizer, _run

SMALLEST = 4096
SMALLEST_PAGED = 100000
BLOCK = 256


class Optimizer8bit(Optimizer):
    """``moments`` states a parameter."""

    moments = 2
    bits = 8
    paged = False

    def __init__(self, params, lr=1e-3, *args, **options):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self, closure=None):
        loss = _run(closure)
        for group in self.param_groups:
            for param in self._params(group):
                state = self.state[param]
                if not state:
                    for moment in range(1, self.moments + 1):
                        self._start(state, moment, param)
        return loss

    def _start(self, state, moment, param):
        device = "cpu" if self.paged and param.numel() >= SMALLEST_PAGED else param.device
        if self.bits == 32 or param.numel() < SMALLEST:
            state[f"state{moment}"] = torch.zeros_like(param, dtype=torch.float32, device=device)
            return
        state[f"state{moment}"] = torch.zeros_like(param, dtype=torch.uint8, device=device)
        blocks = (param.numel() + BLOCK - 1) // BLOCK
        state[f"absmax{moment}"] = torch.zeros((blocks,), dtype=torch.float32, device=param.device)


class Adam8bit(Optimizer8bit):
    """Two moments."""


class AdamW8bit(Optimizer8bit):
    """Two moments."""


class PagedAdam8bit(Optimizer8bit):
    """Two moments, paged."""

    paged = True


class PagedAdamW8bit(Optimizer8bit):
    """Two moments, paged."""

    paged = True


class PagedAdamW(Optimizer8bit):
    """Two fp32 moments, paged."""

    bits = 32
    paged = True


class PagedAdamW32bit(PagedAdamW):
    """Two fp32 moments, paged."""


class Adam(Optimizer8bit):
    """Two fp32 moments."""

    bits = 32


class AdamW(Optimizer8bit):
    """Two fp32 moments."""

    bits = 32


class Lion8bit(Optimizer8bit):
    """One moment."""

    moments = 1


class PagedLion8bit(Lion8bit):
    """One moment, paged."""

    paged = True


class SGD8bit(Optimizer8bit):
    """One moment."""

    moments = 1


class RMSprop8bit(Optimizer8bit):
    """One moment."""

    moments = 1
