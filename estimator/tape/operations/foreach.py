"""Operations on lists of tensors, as optimizers use them: new lists are temporaries of the size of all parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from estimator.tape.operations import comparison, pointwise, reductions, unary  # noqa: F401  registers what is listed below
from estimator.tape.operations.pointwise import combined, result_dtype
from estimator.tape.registry import operation
from estimator.tape.tensor import Tensor, new


def _new_list(tensors: Sequence[Tensor], *_: Any, **__: Any) -> list[Tensor]:
    return [combined((x,), result_dtype(x)) for x in tensors]


def _in_place(tensors: Sequence[Tensor], *_: Any, **__: Any) -> None:
    for x in tensors:
        x.values = None


_NAMES = "add sub mul div addcmul addcdiv neg sqrt rsqrt pow abs exp log reciprocal lerp maximum minimum clamp_min clamp_max sign copy zero"


def _enter(function: Callable[..., Any], suffix: str) -> None:
    for name in _NAMES.split():
        operation(f"_foreach_{name}{suffix}")(function)


_enter(_new_list, "")
_enter(_in_place, "_")


@operation("_foreach_norm")
def foreach_norm(tensors: Sequence[Tensor], *_: Any, **__: Any) -> list[Tensor]:
    """One number a tensor."""
    return [new((), x.dtype, x.device) for x in tensors]


@operation("_fused_adamw_", "_fused_adam_", "_fused_sgd_", "_fused_adagrad_")
def fused(*_: Any, **__: Any) -> None:
    """One kernel over all tensors, without temporaries."""
