"""``transformer_engine.pytorch``: its layers as PyTorch's own, which is said: FP8 keeps inputs of a byte twice where 16 bits keep them once."""

from contextlib import contextmanager

from preflight_host import noted
from torch import nn

WHY = "layers of transformer_engine are taken as PyTorch's in 16 bits: scales and FP8 copies of weights are not counted"


class Linear(nn.Linear):
    def __init__(self, in_features, out_features, bias=True, params_dtype=None, device="cuda", **options):
        super().__init__(in_features, out_features, bias=bias, dtype=params_dtype, device=device)


class LayerNorm(nn.LayerNorm):
    def __init__(self, normalized_shape, eps=1e-5, params_dtype=None, device="cuda", **options):
        super().__init__(normalized_shape, eps=eps, dtype=params_dtype, device=device)


@contextmanager
def fp8_autocast(enabled=True, fp8_recipe=None, **options):
    if enabled:
        for held in ("fp32", "bf16", "fp16"):
            noted("assumed_precision", (held, WHY))
    yield


autocast = fp8_autocast
