"""Automatic mixed precision: which operations cast their inputs to what, and the cache of cast weights.

The lists are those of aten/src/ATen/autocast_mode.h for CUDA.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from estimator.tape.copying import cast
from estimator.tape.dtype import FLOAT32, FLOAT64, Dtype, promote
from estimator.tape.run import current
from estimator.tape.tensor import Tensor


class Policy(Enum):
    """What an operation does with its floating-point inputs under autocast."""

    LOW = "cast to the low precision"
    FULL = "cast to fp32"
    FULL_RESULT = "computed in fp32 unless it is told a dtype"
    WIDEST = "cast to the widest among them"


_NAMES = {
    Policy.LOW: "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d prelu addmm addmv matmul einsum mm mv linear"
    " addbmm baddbmm bmm scaled_dot_product_attention recurrent_layers lstm_cell gru_cell",
    Policy.FULL: "acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow softplus layer_norm group_norm rms_norm"
    " cosine_similarity nll_loss kl_div l1_loss smooth_l1_loss huber_loss mse_loss margin_ranking_loss triplet_margin_loss"
    " binary_cross_entropy_with_logits cosine_embedding_loss cdist logsumexp interpolate poisson_nll_loss soft_margin_loss hinge_embedding_loss",
    Policy.FULL_RESULT: "prod softmax log_softmax cumprod cumsum sum norm",
    Policy.WIDEST: "addcdiv addcmul atan2 cat stack cross dot grid_sample index_put tensordot scatter_add",
}
POLICIES: Mapping[str, Policy] = {name: policy for policy, names in _NAMES.items() for name in names.split()}


def eligible(value: Any) -> bool:
    """Whether autocast touches this argument."""
    return isinstance(value, Tensor) and value.device.counted and value.dtype.is_floating_point and value.dtype != FLOAT64


def casting(function: Callable[..., Any], policy: Policy) -> Callable[..., Any]:
    """``function`` with its inputs cast as ``policy`` says, wherever autocast is on."""

    def cast_first(*args: Any, **kwargs: Any) -> Any:
        state = current().autocast
        if not state.enabled:
            return function(*args, **kwargs)
        match policy:
            case Policy.LOW:
                args, kwargs = _cast_all(args, kwargs, state.dtype)
            case Policy.FULL:
                args, kwargs = _cast_all(args, kwargs, FLOAT32)
            case Policy.WIDEST:
                args, kwargs = _cast_all(args, kwargs, _widest(args, kwargs))
            case Policy.FULL_RESULT:
                if args and eligible(args[0]) and not _told_dtype(args, kwargs):
                    kwargs = {**kwargs, "dtype": FLOAT32}
        state.enabled = False  # an operation's own operations do not choose again
        try:
            return function(*args, **kwargs)
        finally:
            state.enabled = True

    cast_first.__name__ = function.__name__
    cast_first.__doc__ = function.__doc__
    return cast_first


def enter(dtype: Dtype, *, enabled: bool, cache_enabled: bool) -> tuple[bool, Dtype, bool]:
    """Begin a region; what was set before, for ``leave``."""
    state = current().autocast
    before = (state.enabled, state.dtype, state.cache_enabled)
    state.enabled, state.dtype, state.cache_enabled = enabled, dtype, cache_enabled
    state.depth += 1
    return before


def leave(before: tuple[bool, Dtype, bool]) -> None:
    """End a region; the outermost one drops the cast weights."""
    state = current().autocast
    state.enabled, state.dtype, state.cache_enabled = before
    state.depth -= 1
    if not state.depth:
        state.casts.clear()


def _told_dtype(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return kwargs.get("dtype") is not None or any(isinstance(arg, Dtype) for arg in args)


def _cast_all(args: tuple[Any, ...], kwargs: dict[str, Any], dtype: Dtype) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Cast from the last argument to the first, the order in which compiled PyTorch evaluates them."""
    named = {name: _cast(arg, dtype) for name, arg in reversed(kwargs.items())}
    return tuple([_cast(arg, dtype) for arg in reversed(args)][::-1]), named


def _cast(value: Any, dtype: Dtype) -> Any:
    if isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value):
        return type(value)(_cast(item, dtype) for item in value) if type(value) in {list, tuple} else [_cast(item, dtype) for item in value]
    if not eligible(value) or value.dtype == dtype:
        return value
    state = current().autocast
    if not (state.cache_enabled and dtype != FLOAT32 and value.dtype == FLOAT32 and value.requires_grad and value.is_leaf and value.base is None):
        return cast(value, dtype)
    if id(value) not in state.casts:
        state.casts[id(value)] = (value, cast(value, dtype))  # the weight too, so that its id stays its own
    return state.casts[id(value)][1]


def _widest(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Dtype:
    flat = [item for arg in (*args, *kwargs.values()) for item in (arg if isinstance(arg, (list, tuple)) else [arg])]
    widest = current().autocast.dtype
    for value in flat:
        if eligible(value):
            widest = promote(widest, value.dtype)
    return widest
