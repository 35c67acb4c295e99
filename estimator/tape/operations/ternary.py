"""Element-wise functions of several tensors, and distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from estimator.tape.graph import Node, record, tracked
from estimator.tape.inplace import overwritten
from estimator.tape.operations.pointwise import add, combined, result_dtype
from estimator.tape.operations.views import chunk
from estimator.tape.registry import operation
from estimator.tape.tensor import Tensor, new


def _keeping_all(*operands: Any) -> Tensor:
    tensors = [x if isinstance(x, Tensor) else None for x in operands]
    node = record(tensors, _back, tensors)
    result = combined(operands, result_dtype(*operands))
    tracked(node, result)
    return result


def _back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """Each operand's gradient is a product of the one that arrives and the others."""
    gradient, kept = gradients[0], [x for x in node.unpack() if x is not None]
    if gradient is None:
        return (None,) * len(node.edges)
    return [combined((gradient, *kept), gradient.dtype) if edge is not None else None for edge in node.edges]


@operation("addcmul", ".addcmul")
def addcmul(x: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """``x + value * tensor1 * tensor2``; keeps the factors."""
    node = record((x, tensor1, tensor2), _added_back, (tensor1, tensor2))
    result = combined((x, tensor1, tensor2), result_dtype(x, tensor1, tensor2))
    tracked(node, result)
    return result


def _added_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """The gradient as it is, and for each factor the gradient times the other one, scaled first."""
    gradient = gradients[0]
    if gradient is None:
        return (None, None, None)
    first, second = node.unpack()
    results: list[Tensor | None] = [gradient if node.needs(0) else None]
    for i, other in ((1, second), (2, first)):
        scaled = combined((other,), gradient.dtype) if node.needs(i) else None
        results.append(None if scaled is None else combined((gradient, scaled), gradient.dtype))
        del scaled
    return results


@operation("addcdiv", ".addcdiv")
def addcdiv(x: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """``x + value * tensor1 / tensor2``."""
    return _keeping_all(x, tensor1, tensor2)


@operation("lerp", ".lerp")
def lerp(x: Tensor, end: Tensor, weight: Any) -> Tensor:
    """Between ``x`` and ``end``; keeps them only if the weight is a tensor."""
    if isinstance(weight, Tensor):
        return _keeping_all(x, end, weight)
    node = record((x, end), _both_back)
    result = combined((x, end), result_dtype(x, end))
    tracked(node, result)
    return result


def _both_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = gradients[0]
    return [None if gradient is None or edge is None else combined((gradient,), gradient.dtype) for edge in node.edges]


@operation(".addcmul_", ".addcdiv_", ".lerp_")
def written_(x: Tensor, *others: Any, **_: Any) -> Tensor:
    """The same, in place."""
    tensors = [x, *(other for other in others if isinstance(other, Tensor))]
    return overwritten(x, record(tensors, _back, tensors[1:]))


@operation("prelu", "F.prelu")
def prelu(x: Tensor, weight: Tensor) -> Tensor:
    """With a learned slope below zero."""
    slope = weight.view(*(weight.numel() if i == 1 else 1 for i in range(x.ndim))) if x.ndim > 1 else weight
    return _keeping_all(x, slope)


@operation("F.glu", "glu")
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """One half times the sigmoid of the other; keeps the input."""
    half = chunk(input, 2, dim)[0]
    node = record((input,), _whole_back, (input,))
    result = new(half.shape, input.dtype, input.device)
    tracked(node, result)
    return result


def _whole_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient, edge = gradients[0], node.edges[0]
    return (None if gradient is None or edge is None else new(edge.shape, gradient.dtype, gradient.device),)


@operation("F.bilinear", "bilinear")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A bilinear map; keeps both inputs and the weight."""
    node = record((input1, input2, weight), _points_back, (input1, input2, weight))
    result = new((*input1.shape[:-1], weight.shape[0]), input1.dtype, input1.device)
    tracked(node, result)
    return result if bias is None else add(result, bias, out=result)


@operation("cross", ".cross", "linalg.cross")
def cross(x: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The vector product."""
    return _keeping_all(x, other)


@operation("cdist")
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, **_: Any) -> Tensor:
    """All distances between two sets of points; keeps the points and the distances."""
    node = record((x1, x2), _points_back, (x1, x2))
    result = new((*x1.shape[:-1], x2.shape[-2]), x1.dtype, x1.device)
    if node is not None:
        node.keep(result)
    tracked(node, result)
    return result


def _points_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = gradients[0]
    return [None if gradient is None or edge is None else new(edge.shape, gradient.dtype, gradient.device) for edge in node.edges]
