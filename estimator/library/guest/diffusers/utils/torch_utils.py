"""``diffusers.utils.torch_utils``. Mirrors diffusers 0.42.1: compiled models and noise."""

import torch


def is_compiled_module(module):
    return False


def randn_tensor(shape, generator=None, device=None, dtype=None, layout=None):
    return torch.randn(shape, device=device, dtype=dtype)
