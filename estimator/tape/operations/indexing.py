"""Indexing: slices and single elements are views, tensors of indices gather copies, assignments write through views."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, SupportsIndex

from estimator.tape.dtype import INT64, Category, Dtype
from estimator.tape.graph import Node, record, tracked
from estimator.tape.inplace import overwritten
from estimator.tape.not_followed import NotFollowed
from estimator.tape.operations.choosing import columns_of, is_mask
from estimator.tape.operations.views import unsqueeze
from estimator.tape.registry import operation
from estimator.tape.shape import Shape, broadcast, dimension
from estimator.tape.tensor import Tensor, new


@operation("narrow", ".narrow")
def narrow(x: Tensor, dim: int, start: int, length: int) -> Tensor:
    """``length`` elements along a dimension."""
    return _sliced(x, dimension(dim, x.ndim), slice(start, start + length))


@operation("select", ".select")
def select(x: Tensor, dim: int, index: int) -> Tensor:
    """One slice along a dimension, which the result lacks."""
    at = dimension(dim, x.ndim)
    if not -x.shape[at] <= index < x.shape[at]:
        raise IndexError(f"index {index} is out of bounds for dimension {at} with size {x.shape[at]}")
    offset = x.offset + (index % x.shape[at]) * x.strides[at]
    node = record((x,), _part_back)
    part = x.view_of_storage((*x.shape[:at], *x.shape[at + 1 :]), (*x.strides[:at], *x.strides[at + 1 :]), offset)
    if x.values is not None:
        width = prod(x.shape[at + 1 :])
        first, whole = (index % x.shape[at]) * width, x.shape[at] * width
        part.values = type(x.values)(value for start in range(first, len(x.values), whole) for value in x.values[start : start + width])
    tracked(node, part)
    return part


def _sliced(x: Tensor, at: int, part: slice) -> Tensor:
    start, stop, step = part.indices(x.shape[at])
    length = max(0, -(-(stop - start) // step))
    if length == x.shape[at] and step == 1:
        return x
    node = record((x,), _part_back)
    shape, strides = (*x.shape[:at], length, *x.shape[at + 1 :]), (*x.strides[:at], x.strides[at] * step, *x.strides[at + 1 :])
    view = x.view_of_storage(shape, strides, x.offset + start * x.strides[at])
    if x.values is not None and x.ndim == 1:
        view.values = x.values[part]
    tracked(node, view)
    return view


def _part_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """Zeros with the gradient in its place."""
    gradient, edge = gradients[0], node.edges[0]
    if gradient is None or edge is None:
        return (None,)
    return (new(edge.shape, gradient.dtype, gradient.device),)


@operation(".__getitem__")
def getitem(x: Tensor, index: Any) -> Tensor:
    """``x[index]``."""
    view, gathered = _basic(x, index)
    if not gathered:
        return view.view_of_storage(view.shape, view.strides) if view is x and not x.requires_grad else view
    return _gathered(view, gathered)


@operation(".__setitem__")
def setitem(x: Tensor, index: Any, value: Any) -> None:
    """``x[index] = value``: written through a view, or scattered."""
    source = value if isinstance(value, Tensor) else None
    if is_mask(index):
        overwritten(x, record((x, None), _masked_put_back, (index,)))
        return
    view, gathered = _basic(x, index)
    target = x if gathered else view
    node = record((target, source), _written_back, context=None)
    overwritten(target, node)


def _masked_put_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = gradients[0]
    return (None if gradient is None else new(gradient.shape, gradient.dtype, gradient.device), None)


def _written_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """What was overwritten gets zeros, what was written gets the gradient of its place."""
    gradient, edge = gradients[0], node.edges[0]
    if gradient is None:
        return (None, None)
    first = new(gradient.shape, gradient.dtype, gradient.device) if edge is not None else None
    source = node.edges[1]
    return (first, new(source.shape, gradient.dtype, gradient.device) if source is not None else None)


def _basic(x: Tensor, index: Any) -> tuple[Tensor, dict[int, Tensor]]:
    """Apply numbers, slices, None and ... as views; what is left are index tensors by dimension."""
    items = list(index) if isinstance(index, tuple) else [index]
    consumed = sum(_consumes(item) for item in items)
    at = 0
    gathered: dict[int, Tensor] = {}
    for item in items:
        match item:
            case None:
                x = unsqueeze(x, at)
                at += 1
            case _ if item is Ellipsis:
                at = x.ndim - consumed
            case bool():
                raise NotFollowed("indexing with a Boolean")
            case slice():
                x = _sliced(x, at, slice(_number(item.start), _number(item.stop), _number(item.step)))
                at += 1
            case Tensor() if is_mask(item):
                gathered |= dict(enumerate(columns_of(item), at))
                at += item.ndim
            case Tensor() | list() | range():
                gathered[at] = item if isinstance(item, Tensor) else new(_list_shape(list(item)), INT64, x.device)
                at += 1
            case _ if _is_array(item):
                gathered[at] = new(item.shape, INT64, x.device)
                at += 1
            case SupportsIndex():
                x = select(x, at, item.__index__())
            case _:
                raise NotFollowed(f"indexing with a {type(item).__name__}")
        consumed -= _consumes(item)
    return x, gathered


def _is_array(item: Any) -> bool:
    """Whether it is an array of whole numbers on the host."""
    dtype = getattr(item, "dtype", None)
    return isinstance(getattr(item, "shape", None), tuple) and isinstance(dtype, Dtype) and dtype.category is Category.INTEGER


def _consumes(item: Any) -> int:
    """How many dimensions of the tensor an index item stands for."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if is_mask(item) else 1


def _number(bound: Any) -> int | None:
    """A slice bound."""
    if isinstance(bound, Tensor):
        return int(bound.item())
    if bound is not None and not isinstance(bound, SupportsIndex):
        raise NotFollowed(f"a slice up to a {type(bound).__name__}")
    return None if bound is None else bound.__index__()


def _list_shape(items: list[Any]) -> Shape:
    return (len(items), *(_list_shape(items[0]) if items and isinstance(items[0], list) else ()))


def _gathered(x: Tensor, indices: dict[int, Tensor]) -> Tensor:
    """Elements at index tensors: these dimensions are replaced by the indices' common shape, first if they are not adjacent."""
    dims = sorted(indices)
    common = broadcast(*(index.shape for index in indices.values()))
    rest = [x.shape[i] for i in range(x.ndim) if i not in indices]
    lead = dims[0] if dims == list(range(dims[0], dims[-1] + 1)) else 0
    node = record((x,), _gathered_back, tuple(indices.values()))
    result = new((*rest[:lead], *common, *rest[lead:]), x.dtype, x.device)
    tracked(node, result)
    return result


def _gathered_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient, edge = gradients[0], node.edges[0]
    if gradient is None or edge is None:
        return (None,)
    return (new(edge.shape, gradient.dtype, gradient.device),)


@operation("index_select", ".index_select")
def index_select(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Slices along a dimension; keeps the indices."""
    return _gathered(x, {dimension(dim, x.ndim): index})


@operation("gather", ".gather", "take_along_dim", ".take_along_dim")
def gather(x: Tensor, dim: int, index: Tensor, **_: Any) -> Tensor:
    """Elements along a dimension; keeps the indices, and the input whose shape backward asks for."""
    node = record((x,), _gathered_back, (x, index))
    result = new(index.shape, x.dtype, x.device)
    tracked(node, result)
    return result
