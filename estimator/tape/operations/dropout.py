"""Dropout: on CUDA it keeps a mask of one byte an element; without probability or training it is its input."""

from __future__ import annotations

from collections.abc import Sequence

from estimator.tape.copying import like
from estimator.tape.dtype import BOOL
from estimator.tape.graph import Node, record, tracked
from estimator.tape.operations.pointwise import combined, mul
from estimator.tape.registry import operation
from estimator.tape.tensor import Tensor, new


@operation("dropout", "F.dropout")
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements dropped and the rest scaled."""
    x = input
    if not p or not training:
        return x
    if inplace:
        return mul(x, like(x), out=x)
    node = record((x,), _dropped_back)
    result, mask = like(x), like(x, BOOL)
    if node is not None:
        node.keep(mask)
    tracked(node, result)
    return result


@operation("F.dropout1d", "F.dropout2d", "F.dropout3d", "feature_dropout")
def feature_dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels dropped: keeps one number a channel."""
    x = input
    if not p or not training:
        return x
    noise = new((*x.shape[:2], *(1,) * (x.ndim - 2)), x.dtype, x.device)
    return mul(x, noise, out=x) if inplace else mul(x, noise)


def _dropped_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = gradients[0]
    return (None if gradient is None else combined((gradient, *node.unpack()), gradient.dtype),)
