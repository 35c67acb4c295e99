"""Matrix products: ``linear``, ``matmul`` with its folding, ``bmm``, ``addmm``."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from estimator.tape.agreement import must_agree
from estimator.tape.copying import contiguous
from estimator.tape.graph import Node, record, tracked
from estimator.tape.not_followed import NotFollowed
from estimator.tape.operations.pointwise import add
from estimator.tape.operations.views import expand, reshape, squeeze, unsqueeze
from estimator.tape.registry import operation
from estimator.tape.run import current
from estimator.tape.shape import Shape, broadcast, view_strides
from estimator.tape.tensor import Tensor, new


def product(shape: Shape, left: Tensor, strides: Shape | None = None) -> Tensor:
    """New memory for a matrix product, and the workspace that the first one of a thread takes."""
    if left.device.counted:
        current().matrix_product()
    return new(shape, left.dtype, left.device, strides)


@operation("F.linear", "_C._nn.linear")
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``x @ weight.T + bias``; keeps the input and the weight, each if the other wants a gradient."""
    _same_dtype("linear", x, weight)
    must_agree(x.shape[-1] == weight.shape[-1], "linear", x, weight)
    fused = x.ndim <= 2 or x.contiguous_layout  # noqa: PLR2004  a matrix
    source = x if fused else contiguous(x)
    kept = (source if weight.requires_grad else None, weight if source.requires_grad else None)
    added = bias if fused else None
    inputs = (source, weight) if added is None else (source, weight, added)
    node = record(inputs, _linear_back, kept if added is not None else kept[::-1])
    result = product((*source.shape[:-1], weight.shape[0]), source)
    tracked(node, result)
    return result if added is bias else add(result, bias, out=result)


def _linear_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = gradients[0]
    if gradient is None:
        return (None,) * len(node.edges)
    node.unpack()
    gradient = gradient if gradient.ndim <= 2 or _foldable(gradient) else contiguous(gradient)  # noqa: PLR2004  a matrix
    source, weight, *bias = node.edges
    # Gradients are computed in the order of the arguments' names: (mat1, mat2, self) of addmm, (mat2, self) of mm.
    first = product(source.shape, gradient) if source is not None and bias else None
    second = product(weight.shape, gradient) if weight is not None else None
    if source is not None and first is None:
        first = product(source.shape, gradient)
    return (first, second, *(gradient for _ in bias))


def _foldable(x: Tensor) -> bool:
    return reshape_is_view(x, (prod(x.shape[:-1]), x.shape[-1]))


def reshape_is_view(x: Tensor, shape: Shape) -> bool:
    """Whether ``x`` can be seen as ``shape`` without a copy."""
    return view_strides(x.shape, x.strides, shape) is not None


@operation("mm", ".mm")
def mm(x: Tensor, other: Tensor) -> Tensor:
    """A product of two matrices; each is kept if the other wants a gradient."""
    _same_dtype("mm", x, other)
    must_agree(x.shape[1] == other.shape[0], "mm", x, other)
    node = record((x, other), _mm_back, (other if x.requires_grad else None, x if other.requires_grad else None), (_columns(x), _columns(other)))
    result = product((x.shape[0], other.shape[1]), x)
    tracked(node, result)
    return result


@operation("addmm", ".addmm")
def addmm(bias: Tensor, x: Tensor, other: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``bias + x @ other``."""
    _same_dtype("addmm", x, other)
    must_agree(x.shape[1] == other.shape[0], "addmm", x, other)
    kept = (x if other.requires_grad else None, other if x.requires_grad else None)
    node = record((x, other, bias), _mm_back, kept, (_columns(x), _columns(other)))
    result = product((x.shape[0], other.shape[1]), x)
    tracked(node, result)
    return result


def _columns(x: Tensor) -> bool:
    """Whether a matrix lies column by column."""
    return x.strides[0] == 1 and x.strides[1] == x.shape[0] and not x.contiguous_layout


def _mm_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """The gradient of an operand lies as the operand does."""
    gradient = gradients[0]
    if gradient is None:
        return (None,) * len(node.edges)
    node.unpack()
    results: list[Tensor | None] = [None, None]
    for i in _in_order_of_names(node):
        edge = node.edges[i]
        if edge is not None:
            rows, width = edge.shape
            results[i] = product((rows, width), gradient, (1, rows) if node.context[i] else None)
    return (*results, gradient) if len(node.edges) > 2 else results  # noqa: PLR2004


def _in_order_of_names(node: Node) -> tuple[int, int]:
    """Gradients are computed in the order of the arguments' names: (mat1, mat2) of addmm, but mat2 before self of mm."""
    return (0, 1) if len(node.edges) > 2 else (1, 0)  # noqa: PLR2004


@operation("bmm", ".bmm")
def bmm(x: Tensor, other: Tensor) -> Tensor:
    """A batch of matrix products; each operand is kept if the other wants a gradient."""
    _same_dtype("bmm", x, other)
    must_agree(x.shape[0] == other.shape[0] and x.shape[2] == other.shape[1], "bmm", x, other)
    node = record((x, other), _bmm_back, (other if x.requires_grad else None, x if other.requires_grad else None))
    result = product((x.shape[0], x.shape[1], other.shape[2]), x)
    tracked(node, result)
    return result


@operation("baddbmm", ".baddbmm")
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``input + batch1 @ batch2`` in a batch."""
    must_agree(batch1.shape[0] == batch2.shape[0] and batch1.shape[2] == batch2.shape[1], "baddbmm", batch1, batch2)
    kept = (batch1 if batch2.requires_grad else None, batch2 if batch1.requires_grad else None)
    node = record((batch1, batch2, input), _bmm_back, kept)
    result = product((batch1.shape[0], batch1.shape[1], batch2.shape[2]), batch1)
    tracked(node, result)
    return result


def _bmm_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = gradients[0]
    if gradient is None:
        return (None,) * len(node.edges)
    node.unpack()
    results: list[Tensor | None] = [None, None]
    for i in _in_order_of_names(node):
        edge = node.edges[i]
        if edge is not None:
            results[i] = product(edge.shape, gradient)
    return (*results, gradient) if len(node.edges) > 2 else results  # noqa: PLR2004


@operation("matmul", ".matmul", ".__matmul__", "linalg.matmul")
def matmul(x: Tensor, other: Tensor) -> Tensor:
    """Vectors, matrices and batches of them; a batch times a matrix is folded into one product."""
    _same_dtype("matmul", x, other)
    match (x.ndim, other.ndim):
        case (1, _):
            return squeeze(matmul(unsqueeze(x, 0), other), -2)
        case (_, 1):
            return squeeze(matmul(x, unsqueeze(other, 1)), -1)
        case (2, 2):
            return mm(x, other)
        case (_, 2) if other.requires_grad or _foldable(x):
            return reshape(mm(reshape(x, -1, x.shape[-1]), other), *x.shape[:-1], other.shape[-1])
        case _:
            return _batched(x, other)


def _batched(x: Tensor, other: Tensor) -> Tensor:
    batch = broadcast(x.shape[:-2], other.shape[:-2])
    left, right = (_flat(operand, batch) for operand in (x, other))
    return reshape(bmm(left, right), *batch, x.shape[-2], other.shape[-1])


def _flat(x: Tensor, batch: Shape) -> Tensor:
    """One batch dimension; copied where strides do not allow a view."""
    wide = x if x.shape[:-2] == batch else expand(x, *batch, *x.shape[-2:])
    return wide if len(batch) == 1 else reshape(wide, prod(batch), *x.shape[-2:])


@operation("mv", ".mv", "dot", ".dot", "inner", "vdot")
def mv(x: Tensor, other: Tensor) -> Tensor:
    """A product with a vector."""
    return matmul(x, other)


@operation("outer", ".outer", "ger")
def outer(x: Tensor, other: Tensor) -> Tensor:
    """All products of two vectors."""
    return unsqueeze(x, 1) * unsqueeze(other, 0)


def _same_dtype(name: str, x: Tensor, other: Tensor) -> None:
    if x.dtype != other.dtype:
        raise NotFollowed(f"{name} of {x.dtype} and {other.dtype}")
