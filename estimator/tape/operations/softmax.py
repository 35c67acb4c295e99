"""Softmax and its logarithm: both keep their result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from estimator.tape.copying import cast, like
from estimator.tape.dtype import BOOL, FLOAT16, FLOAT32, Dtype
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
    """On the GPU one kernel goes from float16 to float32, and back in backward; every other type is converted first (``SoftMax.cpp``, ``softmax``)."""
    one_kernel = dtype == FLOAT32 and x.dtype == FLOAT16 and x.device.counted
    source = x if dtype is None or one_kernel else cast(x, dtype)
    node = record((source,), _back, context=logarithm)
    result = new(source.shape, FLOAT32 if one_kernel else source.dtype, source.device)
    if not source.contiguous_layout:
        current().scratch(source.nbytes, source.device)  # the kernel works on a row-major copy
    if node is not None:
        node.keep(result)
    tracked(node, result)
    return result


def _back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    (result,) = node.unpack()
    gradient = gradients[0]
    if result is None or gradient is None:
        return (None,)
    edge = node.edges[0]
    back = like(result, result.dtype if edge is None else edge.dtype)
    if not node.context:
        current().scratch(result.shape.numel() * max(result.itemsize, gradient.itemsize), result.device)
    return (back,)
