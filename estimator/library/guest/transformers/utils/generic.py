"""Decorators around a model's forward."""

from functools import wraps

from transformers.utils import ModelOutput, can_return_tuple


def merge_with_config_defaults(function):
    """Whether keys and values are cached is the configuration's word where nobody says it."""

    def forward(self, *args, **kwargs):
        kwargs["use_cache"] = self.caches(kwargs.get("use_cache"))
        return function(self, *args, **kwargs)

    forward.__wrapped__ = function
    return forward


def check_model_inputs(function=None):
    if function is None:
        return merge_with_config_defaults
    return merge_with_config_defaults(function)


def is_flash_attention_requested(*args, **options):
    return False


def maybe_autocast(*args, **options):
    from accelerate import nothing

    return nothing()


class OutputRecorder:
    def __init__(self, *args, **options):
        pass


class GeneralInterface:
    pass
