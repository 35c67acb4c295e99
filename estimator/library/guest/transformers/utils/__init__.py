"""Decorators and questions that hold model source together."""

from typing import Any

import torch
from transformers.modeling_outputs import ModelOutput

TransformersKwargs = LossKwargs = Any


def auto_docstring(function=None, **options):
    return same if function is None else function


def same(value):
    return value


def can_return_tuple(function):
    return function


replace_return_docstrings = add_start_docstrings = add_start_docstrings_to_model_forward = add_code_sample_docstrings = lambda *args, **options: same


def _no(*args, **options):
    return False


is_torchdynamo_compiling = is_flash_attn_2_available = is_torch_fx_proxy = is_flash_attn_greater_or_equal_2_10 = is_torch_xla_available = _no
is_ninja_available = is_accelerate_available = is_torch_flex_attn_available = is_torch_fx_available = is_kernels_available = is_peft_available = _no


def is_torch_available():
    return True


is_scipy_available = is_vision_available = is_timm_available = is_torch_available


def is_torch_tensor(value):
    return isinstance(value, torch.Tensor)


def requires_backends(*args, **options):
    pass


class logging:
    @staticmethod
    def get_logger(name=None):
        return _Logger()


class _Logger:
    def warning_once(self, *args, **options):
        pass

    warning = info = debug = error = warning_advice = warning_once
