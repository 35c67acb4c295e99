"""``torch.nn.utils.parametrizations``: parameters that others are computed from whenever their module is called."""

import torch
from torch import nn


class _Parts(nn.Module):
    """Lengths and directions of a weight, under the names that PyTorch gives them."""

    def __init__(self, lengths, directions):
        super().__init__()
        self.original0 = nn.Parameter(lengths)
        self.original1 = nn.Parameter(directions)


def weight_norm(module, name="weight", dim=0):
    """The weight is its direction times its length along ``dim``; the fused kernel keeps both, and the norms, which are small."""
    weight = getattr(module, name)
    lengths = [size if place == dim % weight.dim() else 1 for place, size in enumerate(weight.shape)]
    parts = _Parts(torch.empty(lengths, dtype=weight.dtype, device=weight.device), torch.empty_like(weight))
    del module._parameters[name]
    module.parametrizations = nn.ModuleDict({name: parts})

    def compute(owner, args):
        setattr(owner, name, parts.original1 * parts.original0)

    def forget(owner, args, result):
        setattr(owner, name, None)

    module.register_forward_pre_hook(compute)
    module.register_forward_hook(forget)
    return module
