"""Products of groups of rows, each with a matrix of its own: what mixtures of experts run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from estimator.tape.graph import Node, record, tracked
from estimator.tape.not_followed import NotFollowed
from estimator.tape.operations.matmul import product
from estimator.tape.registry import operation
from estimator.tape.tensor import Tensor

_ROWS, _STACK = 2, 3


@operation("_grouped_mm", "F.grouped_mm")
def grouped_mm(x: Tensor, other: Tensor, offs: Tensor | None = None, bias: Any = None, out_dtype: Any = None) -> Tensor:
    """``x`` (rows, in) by groups that end at ``offs`` with ``other`` (groups, in, out); each is kept if the other wants a gradient."""
    if x.ndim != _ROWS or other.ndim != _STACK or offs is None or bias is not None:
        raise NotFollowed("grouped_mm of other shapes than rows and a stack of matrices")
    columns = other.strides[1] == 1 and other.strides[2] != 1
    node = record((x, other), _grouped_back, (x if other.requires_grad else None, other if x.requires_grad else None, offs), columns)
    result = product((x.shape[0], other.shape[2]), x)
    tracked(node, result)
    return result


def _grouped_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """The gradient of the stack lies as the stack does."""
    gradient = gradients[0]
    if gradient is None:
        return (None, None)
    node.unpack()
    rows, stack = node.edges
    second = None
    first = product(rows.shape, gradient) if rows is not None else None
    if stack is not None:
        _, inner, outer = stack.shape
        second = product(stack.shape, gradient, (inner * outer, 1, inner) if node.context else None)
    return (first, second)
