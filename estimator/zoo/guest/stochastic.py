"""Layers that leave out whole samples at random while training.

Mirrors torchvision 0.29.1 (``ops/stochastic_depth.py``) and timm 1.0.31 (``layers/drop.py``), which do the same.
"""

from torch import nn


class StochasticDepth(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0.0:
            return x
        noise = x.new_empty((x.shape[0],) + (1,) * (x.ndim - 1)).bernoulli_(1.0 - self.p)
        if self.p < 1.0:
            noise.div_(1.0 - self.p)
        return x * noise


def rates(last, count):
    """The rates of ``count`` layers, rising evenly to ``last``."""
    return [last * place / max(count - 1, 1) for place in range(count)]
