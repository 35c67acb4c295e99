"""Sums, means, extremes and the like over dimensions."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from estimator.tape.copying import like
from estimator.tape.dtype import BOOL, INT64, Category, Dtype
from estimator.tape.graph import Node, record, tracked
from estimator.tape.operations.pointwise import combined
from estimator.tape.registry import operation
from estimator.tape.shape import Shape, dimension, expanded_strides
from estimator.tape.tensor import Tensor, new


def reduced_shape(shape: Sequence[int], dim: Any, *, keepdim: bool) -> Shape:
    """The shape left by a reduction over ``dim`` (None: all)."""
    dims = range(len(shape)) if dim is None or dim == () else [dimension(d, len(shape)) for d in ([dim] if isinstance(dim, int) else dim)]
    if keepdim:
        return tuple(1 if i in dims else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in dims)


@operation("sum", ".sum", "nansum")
def sum(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Dtype | None = None, axis: Any = None) -> Tensor:
    """The sum, in int64 for whole numbers; keeps nothing. The gradient is a broadcast view."""
    result_type = dtype or (INT64 if x.dtype.category <= Category.INTEGER else x.dtype)
    over = dim if axis is None else axis
    node = record((x,), _expanded_back, context=_Reduced(over, keepdim))
    result = new(reduced_shape(x.shape, over, keepdim=keepdim), result_type, x.device)
    if x.values is not None:
        result.values = _summed(x.values, x.shape, over)
    return _done(node, result)


def _summed(values: tuple[Any, ...], shape: Shape, over: Any) -> tuple[Any, ...] | None:
    """The sums of known numbers over all dimensions or the last; None where others are summed over."""
    if over is None:
        return type(values)((builtins.sum(values),))
    if not isinstance(over, int) or dimension(over, len(shape)) != len(shape) - 1:
        return None
    width = shape[-1]
    return type(values)(builtins.sum(values[start : start + width]) for start in range(0, len(values), width))


@operation("mean", ".mean", "nanmean")
def mean(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Dtype | None = None, axis: Any = None) -> Tensor:
    """The mean; keeps nothing. The gradient is divided at full size."""
    node = record((x,), _divided_back, context=_Reduced(dim if axis is None else axis, keepdim))
    return _done(node, new(reduced_shape(x.shape, dim if axis is None else axis, keepdim=keepdim), dtype or x.dtype, x.device))


#: Reductions that keep their input and result: how many tensors of the input's size their backward makes one after another.
_STEPS = {"var": 2, "std": 2, "norm": 2, "prod": 2, "logsumexp": 3, "amax": 1}


def _keeping(name: str) -> Callable[..., Tensor]:
    def reduce(x: Tensor, *args: Any, dim: Any = None, keepdim: bool = False, dtype: Dtype | None = None, **_: Any) -> Tensor:
        args = args[1:] if name == "norm" else args  # the order of a norm stands first and says nothing of the shape
        dims = [arg for arg in args if isinstance(arg, (list, tuple)) or (isinstance(arg, int) and not isinstance(arg, bool))]
        over = dim if dim is not None else (dims[-1] if dims else None)
        node = record((x,), _keeping_back, (x,), _STEPS[name])
        result = new(reduced_shape(x.shape, over, keepdim=keepdim or any(arg is True for arg in args)), dtype or x.dtype, x.device)
        if node is not None:
            node.keep(result)
        return _done(node, result)

    reduce.__name__ = name
    return reduce


for _name in _STEPS:
    operation(_name, f".{_name}", *(("linalg.norm", "linalg.vector_norm") if _name == "norm" else ()), *(("amin", ".amin") if _name == "amax" else ()))(
        _keeping(_name)
    )


def _keeping_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient, kept = gradients[0], node.unpack()[0]
    if gradient is None or kept is None:
        return (None,)
    step: Tensor | None = None
    for _ in range(node.context):
        step = like(kept, gradient.dtype)
    return (step,)


@operation("var_mean")
def var_mean(x: Tensor, dim: Any = None, *, keepdim: bool = False, **_: Any) -> tuple[Tensor, Tensor]:
    """The variance and the mean."""
    variance: Tensor = x.var(dim=dim, keepdim=keepdim)
    return variance, mean(x, dim, keepdim)


@operation("std_mean")
def std_mean(x: Tensor, dim: Any = None, *, keepdim: bool = False, **_: Any) -> tuple[Tensor, Tensor]:
    """The standard deviation and the mean."""
    deviation: Tensor = x.std(dim=dim, keepdim=keepdim)
    return deviation, mean(x, dim, keepdim)


class Extremes(NamedTuple):
    """Values and where they stand."""

    values: Tensor
    indices: Tensor


@operation("max", ".max")
def largest(x: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest: a number, where the numbers are known."""
    return _numbered(x, dim, max, extremes(x, dim, keepdim))


@operation("min", ".min")
def smallest(x: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest."""
    return _numbered(x, dim, min, extremes(x, dim, keepdim))


def _numbered(x: Tensor, dim: Any, function: Callable[[Sequence[Any]], Any], result: Any) -> Any:
    """The result, with its number where those of ``x`` are known."""
    if dim is None and x.values:
        result.values = (function(x.values),)
    return result


@operation("median", ".median", "mode", "kthvalue")
def extremes(x: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest (or smallest); with a dimension also the indices, which are kept."""
    if isinstance(dim, Tensor):
        return x.maximum(dim)
    if dim is None:
        node = record((x,), _scaled_back, (x,))
        return _done(node, new((), x.dtype, x.device))
    shape = reduced_shape(x.shape, dim, keepdim=keepdim)
    return _with_indices(x, shape)


@operation("topk", ".topk")
def topk(x: Tensor, k: int, dim: int = -1, *_: Any, **__: Any) -> Extremes:
    """The ``k`` largest."""
    at = dimension(dim, x.ndim)
    return _with_indices(x, (*x.shape[:at], k, *x.shape[at + 1 :]))


@operation("sort", ".sort")
def sort(x: Tensor, *_: Any, **__: Any) -> Extremes:
    """All in order."""
    return _with_indices(x, x.shape)


def _with_indices(x: Tensor, shape: Shape) -> Extremes:
    node = record((x,), _scattered_back)
    values, indices = new(shape, x.dtype, x.device), new(shape, INT64, x.device)
    if node is not None:
        node.keep(indices)
    tracked(node, values)
    return Extremes(values, indices)


@operation("argmax", ".argmax", "argmin", ".argmin")
def argmax(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Where the largest stands."""
    return new(reduced_shape(x.shape, dim, keepdim=keepdim), INT64, x.device)


@operation("argsort", ".argsort")
def argsort(x: Tensor, *_: Any, **__: Any) -> Tensor:
    """The order."""
    return like(x, INT64)


@operation("all", ".all", "any", ".any")
def all(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether all (any) are true."""
    return new(reduced_shape(x.shape, dim, keepdim=keepdim), BOOL, x.device)


@operation("count_nonzero", ".count_nonzero")
def count_nonzero(x: Tensor, dim: Any = None) -> Tensor:
    """How many are not zero."""
    return new(reduced_shape(x.shape, dim, keepdim=False), INT64, x.device)


@operation("cumsum", ".cumsum")
def cumsum(x: Tensor, dim: int, *, dtype: Dtype | None = None) -> Tensor:
    """Running sums, in int64 for whole numbers. The gradient is flipped, summed and flipped back."""
    dtype = dtype or (INT64 if x.dtype.category <= Category.INTEGER else x.dtype)
    node = record((x,), _cumsum_back) if dtype.category > Category.INTEGER else None
    return _done(node, like(x, dtype))


@operation("cumprod", ".cumprod")
def cumprod(x: Tensor, dim: int, *, dtype: Dtype | None = None) -> Tensor:
    """Running products. What is multiplied and the products are kept; in backward no factor is taken to be zero (``cumprod_backward``)."""
    dtype = dtype or (INT64 if x.dtype.category <= Category.INTEGER else x.dtype)
    node = record((x,), _cumprod_back, (x,)) if dtype.category > Category.INTEGER else None
    result = like(x, dtype)
    if node is not None:
        node.keep(result)
    return _done(node, result)


@operation("cummax", ".cummax", "cummin", ".cummin")
def cummax(x: Tensor, dim: int) -> Extremes:
    """Running extremes, with where they stand."""
    return _with_indices(x, x.shape)


class _Reduced(NamedTuple):
    dim: Any
    keepdim: bool


def _done(node: Node | None, result: Tensor) -> Tensor:
    if result.dtype.category >= Category.FLOAT:
        tracked(node, result)
    return result


def _expanded_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """A view of the gradient, repeated along what was summed."""
    gradient, edge = gradients[0], node.edges[0]
    if gradient is None or edge is None:
        return (None,)
    shape = reduced_shape(edge.shape, node.context.dim, keepdim=True)
    view = gradient.view(*shape) if shape else gradient
    return (view.view_of_storage(edge.shape, expanded_strides(view.shape, view.strides, edge.shape)),)


def _divided_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = _expanded_back(node, gradients)[0]
    return (None if gradient is None else combined((gradient,), gradient.dtype),)


def _scaled_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient, kept = gradients[0], node.unpack()[0]
    return (None if gradient is None or kept is None else like(kept, gradient.dtype),)


def _scattered_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient, edge = gradients[0], node.edges[0]
    return (None if gradient is None or edge is None else new(edge.shape, gradient.dtype, gradient.device),)


def _cumprod_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """The gradient times the products, summed from the end, over what was multiplied; and a look for zeros."""
    factors, *_ = node.unpack()
    gradient = gradients[0]
    if gradient is None or factors is None:
        return (None,)
    weighted = like(gradient)
    zeros = like(factors, BOOL)
    del zeros
    (summed,) = _cumsum_back(node, (weighted,))
    return (None if summed is None else like(summed),)


def _cumsum_back(_node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = gradients[0]
    step: Tensor | None = None
    for _ in range(3 if gradient is not None else 0):
        step = like(gradient) if gradient is not None else None
    return (step,)
