"""Results written over an operand: the operand takes the operation's place in the graph, and so does what it is a view of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from estimator.tape.copying import like
from estimator.tape.graph import Node, record, tracked
from estimator.tape.run import current
from estimator.tape.shape import Shape, contiguous_strides, is_dense
from estimator.tape.tensor import Tensor, new


class _Slice(NamedTuple):
    """What a write through a view needs in backward."""

    inner: Node | None
    shape: Shape
    strides: Shape
    offset: int


def forget_numbers(x: Tensor) -> None:
    """``x`` and what it is a view of hold other numbers now."""
    x.values = None
    if x.base is not None:
        x.base.values = None


def overwritten(x: Tensor, node: Node | None) -> Tensor:
    """``x`` after ``node`` wrote into its memory."""
    forget_numbers(x)
    if node is None:
        return x
    if x.base is None:
        tracked(node, x)
        return x
    base = x.base
    node.outputs = 1
    whole = Node((base,), _slice_back, _Slice(node, x.shape, x.strides, x.offset - base.offset))
    whole.edges = (whole.edges[0], *node.edges[1:])
    tracked(whole, base)
    viewed = record((base,), _view_back, context=_Slice(None, x.shape, x.strides, x.offset - base.offset))
    tracked(viewed, x)
    return x


def original(x: Tensor, out: Tensor | None) -> Tensor:
    """What an operation keeps of its operand ``x``: itself, or a copy made first if the result is written over it."""
    return x if out is not x or not current().grad_enabled or not x.requires_grad else like(x)


def _slice_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """The gradient is copied; the written part of it goes through the inner operation (CopySlices)."""
    gradient, part = gradients[0], node.context
    if gradient is None:
        return (None,) * len(node.edges)
    whole = new(gradient.shape, gradient.dtype, gradient.device, gradient.strides if is_dense(*gradient.layout_key) else None)
    slice_ = new(part.shape, gradient.dtype, gradient.device)
    inner = list(part.inner.backward(part.inner, [slice_]))
    part.inner.unpacked = ()
    part.inner.release()
    return (whole if node.needs(0) else None, *inner[1:])


def _view_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """Zeros with the gradient of the view in its place."""
    gradient, edge = gradients[0], node.edges[0]
    if gradient is None or edge is None:
        return (None,)
    return (new(edge.shape, gradient.dtype, gradient.device, contiguous_strides(edge.shape)),)
