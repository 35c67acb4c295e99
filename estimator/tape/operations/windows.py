"""Windows over a dimension, diagonals, sampling on a grid, and complex numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from estimator.tape.dtype import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64
from estimator.tape.graph import Node, record, tracked
from estimator.tape.operations.convolution import each
from estimator.tape.registry import operation
from estimator.tape.shape import dimension
from estimator.tape.tensor import Tensor, new


def _whole_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """A gradient of the size of each input."""
    gradient = gradients[0]
    return [None if gradient is None or edge is None else new(edge.shape, edge.dtype, gradient.device) for edge in node.edges]


@operation(".unfold")
def unfold(x: Tensor, dim: int, size: int, step: int) -> Tensor:
    """Windows along a dimension, as a view with one dimension more."""
    at = dimension(dim, x.ndim)
    node = record((x,), _whole_back)
    shape = (*x.shape[:at], (x.shape[at] - size) // step + 1, *x.shape[at + 1 :], size)
    view = x.view_of_storage(shape, (*x.strides[:at], x.strides[at] * step, *x.strides[at + 1 :], x.strides[at]))
    tracked(node, view)
    return view


@operation("diagonal", ".diagonal", "diag", ".diag")
def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dimensions, as a view; of a vector, the matrix that has it."""
    node = record((x,), _whole_back)
    if x.ndim == 1:
        result = new((x.shape[0] + abs(offset),) * 2, x.dtype, x.device)
    else:
        first, second = dimension(dim1, x.ndim), dimension(dim2, x.ndim)
        rows, columns = x.shape[first] + min(offset, 0), x.shape[second] - max(offset, 0)
        rest = [i for i in range(x.ndim) if i not in {first, second}]
        shape = (*(x.shape[i] for i in rest), max(0, min(rows, columns)))
        result = x.view_of_storage(shape, (*(x.strides[i] for i in rest), x.strides[first] + x.strides[second]))
    tracked(node, result)
    return result


@operation("F.unfold")
def image_to_columns(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The patches of an image, side by side; keeps nothing."""
    kernel, holes, borders, steps = (each(value, 2) for value in (kernel_size, dilation, padding, stride))
    count = prod((input.shape[2 + i] + 2 * borders[i] - holes[i] * (kernel[i] - 1) - 1) // steps[i] + 1 for i in range(2))
    node = record((input,), _whole_back)
    result = new((input.shape[0], input.shape[1] * prod(kernel), count), input.dtype, input.device)
    tracked(node, result)
    return result


@operation("F.grid_sample")
def grid_sample(input: Tensor, grid: Tensor, *_: Any, **__: Any) -> Tensor:
    """Values at the places of a grid; keeps both."""
    node = record((input, grid), _whole_back, (input, grid))
    result = new((*input.shape[:2], *grid.shape[1:-1]), input.dtype, input.device)
    tracked(node, result)
    return result


@operation("complex", "polar")
def complex_of(real: Tensor, imag: Tensor) -> Tensor:
    """Complex numbers of two parts, or of length and angle; keeps them."""
    node = record((real, imag), _whole_back, (real, imag))
    result = new(real.shape, COMPLEX128 if real.dtype == FLOAT64 else COMPLEX64, real.device)
    tracked(node, result)
    return result


def _part(x: Tensor) -> Tensor:
    """The real (or imaginary) part, as a view."""
    if not x.dtype.is_complex:
        return x
    node = record((x,), _whole_back)
    view = x.view_of_storage(x.shape, tuple(2 * stride for stride in x.strides), 2 * x.offset)
    view.dtype = FLOAT64 if x.dtype == COMPLEX128 else FLOAT32
    tracked(node, view)
    return view


Tensor.real = property(_part)  # type: ignore[attr-defined]
Tensor.imag = property(_part)  # type: ignore[attr-defined]
