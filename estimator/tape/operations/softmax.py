"""Softmax and its logarithm: both keep their result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from estimator.tape.copying import cast, like
from estimator.tape.dtype import BOOL, Dtype
from estimator.tape.graph import Node, record, tracked
from estimator.tape.registry import operation
from estimator.tape.run import current
from estimator.tape.tensor import Tensor, new


@operation("softmax", ".softmax", "F.softmax", "F.softmin")
def softmax(x: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None, **_: Any) -> Tensor:
    """Softmax, in ``dtype`` if one is given. Its backward multiplies gradient and result in memory of their size first."""
    return _kept_result(x, dtype, logarithm=False)


@operation("log_softmax", ".log_softmax", "F.log_softmax")
def log_softmax(x: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None, **_: Any) -> Tensor:
    """The logarithm of softmax."""
    return _kept_result(x, dtype, logarithm=True)


def safe_softmax(x: Tensor) -> Tensor:
    """Softmax over the last dimension with zeros where a whole row is masked, as the math kernel of attention uses it."""
    node = record((x,), _back, context=False)
    plain, masked = like(x), like(x, BOOL)
    rows = new((*x.shape[:-1], 1), BOOL, x.device)
    result = like(x)
    del plain, masked, rows
    if node is not None:
        node.keep(result)
    tracked(node, result)
    return result


def _kept_result(x: Tensor, dtype: Dtype | None, *, logarithm: bool) -> Tensor:
    source = x if dtype is None else cast(x, dtype)
    node = record((source,), _back, context=logarithm)
    result = new(source.shape, source.dtype, source.device)
    if not source.contiguous_layout:
        current().scratch(source.nbytes)  # the kernel works on a row-major copy
    if node is not None:
        node.keep(result)
    tracked(node, result)
    return result


def _back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    (result,) = node.unpack()
    gradient = gradients[0]
    if result is None or gradient is None:
        return (None,)
    back = like(result)
    if not node.context:
        current().scratch(result.shape.numel() * max(result.itemsize, gradient.itemsize))
    return (back,)
