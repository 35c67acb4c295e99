"""Copies in another arrangement: joined, repeated, rolled, flipped, cut to a triangle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from estimator.tape.agreement import must_agree
from estimator.tape.copying import like
from estimator.tape.dtype import INT64, promote
from estimator.tape.graph import Node, record, tracked
from estimator.tape.inplace import forget_numbers, overwritten
from estimator.tape.not_followed import NotFollowed
from estimator.tape.operations.indexing import narrow, select
from estimator.tape.operations.views import expand, reshape, view
from estimator.tape.registry import operation
from estimator.tape.shape import broadcast, channels_last_strides, dimension, flatten_sizes
from estimator.tape.tensor import Tensor, new


@operation("cat", "concat", "concatenate")
def cat(tensors: Any, dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors one after another; keeps nothing. The gradients are views of the one that arrives."""
    parts = list(tensors)
    present = [x for x in parts if x.shape != (0,)] or parts
    at = dimension(dim if axis is None else axis, present[0].ndim)
    must_agree(len({(*x.shape[:at], *x.shape[at + 1 :]) for x in present}) == 1, "cat", *present)
    shape = (*present[0].shape[:at], sum(x.shape[at] for x in present), *present[0].shape[at + 1 :])
    node = record(parts, _cat_back, context=(at, [0 if x.shape == (0,) else x.shape[at] for x in parts]))
    strides = channels_last_strides(shape) if all(x.channels_last for x in present) else None
    result = new(shape, reduce(promote, (x.dtype for x in present)), present[0].device, strides)
    tracked(node, result)
    return result


def _cat_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient, (at, sizes) = gradients[0], node.context
    if gradient is None:
        return (None,) * len(sizes)
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [narrow(gradient, at, start, size) if size else None for start, size in zip(starts, sizes, strict=True)]


@operation("stack")
def stack(tensors: Any, dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors along a new dimension; keeps nothing. The gradients are views of the one that arrives."""
    parts = list(tensors)
    at = dimension(dim if axis is None else axis, parts[0].ndim + 1)
    must_agree(len({x.shape for x in parts}) == 1, "stack", *parts)
    node = record(parts, _stack_back, context=at)
    shape = parts[0].shape
    result = new((*shape[:at], len(parts), *shape[at:]), reduce(promote, (x.dtype for x in parts)), parts[0].device)
    tracked(node, result)
    return result


def _stack_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = gradients[0]
    return [None if gradient is None else select(gradient, node.context, i) for i in range(len(node.edges))]


@operation("hstack", "column_stack")
def hstack(tensors: Any) -> Tensor:
    """Side by side."""
    parts = list(tensors)
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


@operation("vstack")
def vstack(tensors: Any) -> Tensor:
    """One below another."""
    return cat([x if x.ndim > 1 else reshape(x, 1, -1) for x in tensors], 0)


@operation(".repeat", "tile", ".tile")
def repeat(x: Tensor, *sizes: Any) -> Tensor:
    """Copies of the whole side by side."""
    times = flatten_sizes(sizes)
    own = (1,) * (len(times) - x.ndim) + tuple(x.shape)
    result = _grown(x, tuple(size * n for size, n in zip(own, times, strict=True)))
    if x.values is not None and result.numel() == x.numel() * times[0]:
        result.values = type(x.values)((*x.values,) * times[0])
    return result


@operation("repeat_interleave", ".repeat_interleave")
def repeat_interleave(x: Tensor, repeats: Any, dim: int | None = None, **_: Any) -> Tensor:
    """Copies of each element side by side."""
    if not isinstance(repeats, int):
        raise NotFollowed("repeat_interleave by a tensor")
    source = reshape(x, -1) if dim is None else x
    at = 0 if dim is None else dimension(dim, x.ndim)
    return _grown(source, (*source.shape[:at], source.shape[at] * repeats, *source.shape[at + 1 :]))


def _grown(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    node = record((x,), _shape_back)
    result = new(shape, x.dtype, x.device)
    tracked(node, result)
    return result


def _shape_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """The gradient summed to what it came from."""
    gradient, edge = gradients[0], node.edges[0]
    return (None if gradient is None or edge is None else new(edge.shape, gradient.dtype, gradient.device),)


@operation("tril", ".tril", "triu", ".triu", "roll", ".roll", "flip", ".flip", "fliplr", "flipud", "rot90")
def rearranged(x: Tensor, *_: Any, **__: Any) -> Tensor:
    """A copy of the same size with elements moved or set to zero; keeps nothing."""
    node = record((x,), _same_back)
    result = like(x)
    tracked(node, result)
    return result


def _same_back(_node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = gradients[0]
    return (None if gradient is None else like(gradient),)


@operation("F.one_hot")
def one_hot(x: Tensor, num_classes: int = -1) -> Tensor:
    """A one in the place that each element names."""
    if num_classes < 0:
        raise NotFollowed("one_hot without a number of classes")
    return new((*x.shape, num_classes), INT64, x.device)


@operation("meshgrid")
def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Coordinates on a grid, as views."""
    parts = list(tensors[0]) if isinstance(tensors[0], (list, tuple)) else list(tensors)
    shape = tuple(x.numel() for x in parts)
    if indexing == "xy" and len(parts) > 1:
        order = (1, 0, *range(2, len(parts)))
        grids = meshgrid(*(parts[i] for i in order))
        return tuple(grids[i].transpose(0, 1) for i in order)
    return tuple(expand(view(x, *(-1 if i == j else 1 for j in range(len(parts)))), *shape) for i, x in enumerate(parts))


@operation("broadcast_tensors")
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """All in their common shape, as views."""
    shape = broadcast(*(x.shape for x in tensors))
    return tuple(expand(x, *shape) for x in tensors)


@operation(".copy_")
def copy_(x: Tensor, other: Tensor, *_: Any, **__: Any) -> Tensor:
    """The numbers of another tensor written into this one."""
    return overwritten(x, record((None, other), _copied_back) if x.requires_grad or other.requires_grad else None)


def _copied_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    return (None, gradients[0])


@operation(
    ".zero_", ".fill_", ".normal_", ".uniform_", ".random_", ".bernoulli_", ".exponential_", ".trunc_normal_", ".fill_diagonal_",
    ".tril_", ".triu_", ".geometric_", ".log_normal_", ".kaiming_uniform_",
)  # fmt: skip
def filled_(x: Tensor, *_: Any, **__: Any) -> Tensor:
    """Written over in place."""
    forget_numbers(x)
    return x
