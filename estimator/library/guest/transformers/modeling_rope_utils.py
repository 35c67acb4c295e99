"""Rotary positions, for model source that is read from a release of transformers: whatever kind they are of, as many frequencies."""

import torch


class RopeParameters(dict):
    pass


def dynamic_rope_update(function):
    return function


class _AnyKind:
    """Scaled kinds differ in numbers, not in shapes."""

    def __getitem__(self, name):
        return frequencies

    def __contains__(self, name):
        return True


def frequencies(config, device=None, seq_len=None, **options):
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    dim = int(head * (config.rope_parameters.get("partial_rotary_factor") or 1.0))
    theta = config.rope_parameters["rope_theta"]
    return 1.0 / (theta ** (torch.arange(0, dim, 2, dtype=torch.float32, device=device) / dim)), 1.0


ROPE_INIT_FUNCTIONS = _AnyKind()


def rope_config_validation(*args, **options):
    pass


standardize_rope_params = rope_config_validation
