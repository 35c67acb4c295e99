"""Compilation: the program stays the eager one, and the estimate says so."""

import torch


def compile(model=None, **options):
    torch._C._assume("torch.compile keeps what eager PyTorch keeps")
    if model is None:
        return lambda function: function
    return model


def disable(function=None, recursive=True):
    return function if function is not None else lambda inner: inner


def is_compiling():
    return False
