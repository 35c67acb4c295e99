"""Views: other shapes over the same memory, copying only where strides do not allow one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from estimator.tape import copying
from estimator.tape.graph import Node, record, tracked
from estimator.tape.not_followed import NotFollowed
from estimator.tape.registry import operation
from estimator.tape.shape import Shape, contiguous_strides, dimension, expanded_strides, flatten_sizes, resolve_shape, view_strides
from estimator.tape.tensor import Tensor, new

_Back = Callable[[Node, Sequence[Tensor | None]], Sequence[Tensor | None]]


def seen_as(x: Tensor, shape: Shape, strides: Shape, back: _Back, context: Any = None) -> Tensor:
    """A differentiable view at the same offset."""
    node = record((x,), back, context=context)
    view = x.view_of_storage(shape, strides)
    tracked(node, view)
    return view


@operation(".view", ".view_as")
def view(x: Tensor, *size: Any) -> Tensor:
    """Another shape over the same memory; one that needs a copy is the guest's error."""
    match size:
        case (Tensor() as other,):
            size = other.shape
        case (int() | list() | tuple(), *_):
            pass
        case (Tensor(), *_):
            size = (flatten_sizes(size),)  # numbers that tensors hold
        case _:
            raise NotFollowed(f"a view as {size}")
    shape = resolve_shape(flatten_sizes(size), x.shape.numel())
    strides = view_strides(x.shape, x.strides, shape)
    if strides is None:
        raise NotFollowed(f"a view of {tuple(x.shape)} as {shape} that would need a copy")
    return _reshaped(x, shape, strides)


@operation("reshape", ".reshape", ".reshape_as")
def reshape(x: Tensor, *size: Any, shape: Any = None) -> Tensor:
    """Another shape: a view if strides allow, else a copy."""
    match size:
        case (Tensor() as other,):
            wanted: Shape = other.shape
        case ():
            wanted = flatten_sizes((shape,))
        case _:
            wanted = flatten_sizes(size)
    wanted = resolve_shape(wanted, x.shape.numel())
    strides = view_strides(x.shape, x.strides, wanted)
    if strides is None:
        return _reshaped(copying.copied(x, strides=contiguous_strides(x.shape)), wanted, contiguous_strides(wanted))
    return _reshaped(x, wanted, strides)


def _reshaped(x: Tensor, shape: Shape, strides: Shape) -> Tensor:
    result = seen_as(x, shape, strides, _reshaped_back, x.shape)
    result.values = x.values
    return result


def _reshaped_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = gradients[0]
    return (None if gradient is None else reshape(gradient, node.context),)


@operation("flatten", ".flatten", ".ravel", "ravel")
def flatten(x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions ``start_dim`` to ``end_dim`` as one."""
    if not x.shape:
        return reshape(x, 1)
    first, last = dimension(start_dim, x.ndim), dimension(end_dim, x.ndim)
    if first == last:
        return x
    return reshape(x, (*x.shape[:first], prod(x.shape[first : last + 1]), *x.shape[last + 1 :]))


@operation("unflatten", ".unflatten")
def unflatten(x: Tensor, dim: int, sizes: Any) -> Tensor:
    """One dimension as several."""
    at = dimension(dim, x.ndim)
    return view(x, (*x.shape[:at], *resolve_shape(flatten_sizes((sizes,)), x.shape[at]), *x.shape[at + 1 :]))


@operation("unsqueeze", ".unsqueeze")
def unsqueeze(x: Tensor, dim: int) -> Tensor:
    """A dimension of one element put in."""
    at = dimension(dim, x.ndim + 1)
    stride = x.shape[at] * x.strides[at] if at < x.ndim else 1
    result = seen_as(x, (*x.shape[:at], 1, *x.shape[at:]), (*x.strides[:at], stride, *x.strides[at:]), _reshaped_back, x.shape)
    result.values = x.values
    return result


@operation("squeeze", ".squeeze")
def squeeze(x: Tensor, dim: Any = None) -> Tensor:
    """Dimensions of one element left out."""
    dims = range(x.ndim) if dim is None else [dimension(d, x.ndim) for d in ([dim] if isinstance(dim, int) else dim)]
    kept = [i for i in range(x.ndim) if i not in dims or x.shape[i] != 1]
    result = seen_as(x, tuple(x.shape[i] for i in kept), tuple(x.strides[i] for i in kept), _reshaped_back, x.shape)
    result.values = x.values
    return result


@operation("permute", ".permute")
def permute(x: Tensor, *dims: Any) -> Tensor:
    """Dimensions in another order."""
    order = tuple(dimension(dim, x.ndim) for dim in flatten_sizes(dims))
    return seen_as(x, tuple(x.shape[i] for i in order), tuple(x.strides[i] for i in order), _permuted_back, order)


def _permuted_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient, order = gradients[0], node.context
    return (None if gradient is None else permute(gradient, sorted(range(len(order)), key=order.__getitem__)),)


@operation("transpose", ".transpose", "swapaxes", ".swapaxes", "swapdims", ".swapdims")
def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    order = list(range(x.ndim))
    first, second = dimension(dim0, x.ndim), dimension(dim1, x.ndim)
    order[first], order[second] = second, first
    return permute(x, order)


@operation("t", ".t")
def t(x: Tensor) -> Tensor:
    """A matrix transposed."""
    return transpose(x, 0, 1) if x.ndim > 1 else x


@operation("movedim", ".movedim", "moveaxis")
def movedim(x: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved elsewhere."""
    sources = [dimension(d, x.ndim) for d in ([source] if isinstance(source, int) else source)]
    targets = [dimension(d, x.ndim) for d in ([destination] if isinstance(destination, int) else destination)]
    rest = iter([d for d in range(x.ndim) if d not in sources])
    placed = dict(zip(targets, sources, strict=True))
    return permute(x, [placed[i] if i in placed else next(rest) for i in range(x.ndim)])


Tensor.T = property(lambda x: permute(x, list(range(x.ndim))[::-1]))  # type: ignore[attr-defined]
Tensor.mT = property(lambda x: transpose(x, -2, -1))  # type: ignore[attr-defined]


@operation(".expand", ".expand_as", "broadcast_to", ".broadcast_to")
def expand(x: Tensor, *size: Any) -> Tensor:
    """Dimensions of one element repeated without a copy."""
    wanted = size[0].shape if isinstance(size[0], Tensor) else flatten_sizes(size)
    lead = len(wanted) - x.ndim
    shape = tuple(x.shape[i - lead] if n == -1 else n for i, n in enumerate(wanted))
    if any(have not in {1, want} for have, want in zip(x.shape, shape[lead:], strict=True)):
        raise NotFollowed(f"expanding {tuple(x.shape)} to {shape}")
    result = seen_as(x, shape, expanded_strides(x.shape, x.strides, shape), _passed_back)
    if x.values is not None and result.numel() == x.numel():
        result.values = x.values
    return result


def _passed_back(_node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """The edge sums over what was repeated."""
    return gradients[:1]


@operation("split", ".split", "split_with_sizes", ".split_with_sizes", "functional.split")
def split(x: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Consecutive parts along a dimension."""
    at, part = dimension(dim, x.ndim), split_size_or_sections
    total = x.shape[at]
    sizes = [min(part, total - start) for start in range(0, total, part)] if isinstance(part, int) else list(part)
    node = record((x,), _split_back, context=(x.shape, x.dtype, x.device, [(*x.shape[:at], size, *x.shape[at + 1 :]) for size in sizes]))
    parts, start = [], 0
    for size in sizes:
        parts.append(x.view_of_storage((*x.shape[:at], size, *x.shape[at + 1 :]), x.strides, x.offset + start * x.strides[at]))
        start += size
    tracked(node, *parts)
    return tuple(parts)


@operation("chunk", ".chunk")
def chunk(x: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` consecutive parts of one size."""
    return split(x, max(1, -(-x.shape[dim] // chunks)), dim)


@operation("tensor_split", ".tensor_split")
def tensor_split(x: Tensor, sections: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``sections`` consecutive parts, the first ones longer by one where it does not divide."""
    width, more = divmod(x.shape[dim], sections)
    return split(x, [width + (i < more) for i in range(sections)], dim)


@operation("unbind", ".unbind")
def unbind(x: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Slices along a dimension, which they lack."""
    at = dimension(dim, x.ndim)
    node = record((x,), _split_back, context=(x.shape, x.dtype, x.device, []))
    shape, strides = (*x.shape[:at], *x.shape[at + 1 :]), (*x.strides[:at], *x.strides[at + 1 :])
    parts = tuple(x.view_of_storage(shape, strides, x.offset + i * x.strides[at]) for i in range(x.shape[at]))
    if x.values is not None and at == 0:
        width = prod(shape)
        for i, part in enumerate(parts):
            part.values = x.values[i * width : (i + 1) * width]
    tracked(node, *parts)
    return parts


def _split_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """The parts' gradients put together, zeros where none arrived."""
    shape, dtype, device, parts = node.context
    zeros = [new(part, dtype, device) for part, gradient in zip(parts, gradients, strict=False) if gradient is None]
    whole = new(shape, dtype, device)
    del zeros
    return (whole,)


@operation(".__iter__")
def iterate(x: Tensor) -> Any:
    """Slices along the first dimension, one after another."""
    return iter(unbind(x, 0))
