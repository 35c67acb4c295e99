"""Fake quantization: rounded and scaled back in floating point, step by step. Mirrors torchao 0.12 (``quantization/quant_primitives.py``)."""

import torch
from torch import nn


class _Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def rounded(x, group, scale_dtype):
    """``x`` with each ``group`` of its last dimension scaled, rounded to whole numbers and scaled back."""
    groups = x.view(*x.shape[:-1], x.shape[-1] // group, group)
    with torch.no_grad():
        low = torch.amin(groups, dim=-1, keepdim=True)
        high = torch.amax(groups, dim=-1, keepdim=True)
        scale = ((high - low) / 255.0).to(scale_dtype)
        zero_point = torch.zeros_like(scale)
    whole = torch.clamp(_Round.apply(groups * (1.0 / scale)) + zero_point, -128, 127)
    restored = whole.to(x.dtype, copy=True)
    restored = restored - zero_point.to(x.dtype)
    restored = restored * scale
    return restored.view(x.shape).to(x.dtype)


class FakeQuantizer(nn.Module):
    """Per token (a whole row), per channel (a whole row of a weight) or per group."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.enabled = True

    def forward(self, x):
        if not self.enabled:
            return x
        group = self.config.group_size
        return rounded(x, x.shape[-1] if group is None else group, self.config.scale_precision)
