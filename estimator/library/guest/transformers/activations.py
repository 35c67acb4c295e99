"""Activation functions by name, for model source that is read from a release of transformers."""

from functools import partial

import torch
from preflight_zoo.gpt2 import gelu_new
from torch import nn


class _Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def quick_gelu(x):
    return x * torch.sigmoid(1.702 * x)


FUNCTIONS = {
    "gelu": nn.functional.gelu, "gelu_new": gelu_new, "gelu_fast": gelu_new, "gelu_python": nn.functional.gelu, "quick_gelu": quick_gelu,
    "gelu_pytorch_tanh": partial(nn.functional.gelu, approximate="tanh"), "gelu_accurate": gelu_new, "relu": nn.functional.relu,
    "silu": nn.functional.silu, "swish": nn.functional.silu, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "mish": nn.functional.mish,
}  # fmt: skip


class _ByName:
    def __getitem__(self, name):
        return _Function(FUNCTIONS[name])

    def __contains__(self, name):
        return name in FUNCTIONS


ACT2FN = _ByName()


def get_activation(name):
    return ACT2FN[name]
