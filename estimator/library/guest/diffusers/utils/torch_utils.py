"""``diffusers.utils.torch_utils``. Mirrors diffusers 0.42.1: compiled models and noise."""

import torch
from diffusers.utils import is_torch_version


def is_compiled_module(module):
    return False


def randn_tensor(shape, generator=None, device=None, dtype=None, layout=None):
    return torch.randn(shape, device=device, dtype=dtype)


def maybe_allow_in_graph(cls):
    return cls


def maybe_adjust_dtype_for_device(dtype, device):
    return dtype


def lru_cache_unless_export(maxsize=128, typed=False):
    """What is kept from call to call lies on the host or is small."""
    return maybe_allow_in_graph
