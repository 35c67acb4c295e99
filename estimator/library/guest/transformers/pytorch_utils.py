"""Small parts of models, for model source that is read from a release of transformers."""

import torch
from preflight_zoo.gpt2 import Conv1D
from torch import nn

ALL_LAYERNORM_LAYERS = [nn.LayerNorm]
__all__ = ["ALL_LAYERNORM_LAYERS", "Conv1D"]


def apply_chunking_to_forward(forward_fn, chunk_size, chunk_dim, *inputs):
    """The whole at once: no configuration chunks unless it is asked to."""
    return forward_fn(*inputs)


def find_pruneable_heads_and_indices(*args, **options):
    return set(), None


def isin_mps_friendly(elements, tests):
    return elements == tests


def meshgrid(*tensors, indexing=None):
    return torch.meshgrid(*tensors, indexing=indexing)


def compile_compatible_method_lru_cache(*args, **options):
    """The cache is not kept: what it saves is small."""
    return lambda function: function
