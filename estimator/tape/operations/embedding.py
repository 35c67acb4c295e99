"""Embeddings: the indices are kept, the gradient is as large as the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from estimator.tape.graph import Node, record, tracked
from estimator.tape.registry import operation
from estimator.tape.tensor import Tensor, new


@operation("embedding", "F.embedding")
def embedding(input: Tensor, weight: Tensor, *_: Any, **__: Any) -> Tensor:
    """Rows of ``weight``."""
    node = record((weight,), _embedding_back, (input,))
    result = new((*input.shape, weight.shape[1]), weight.dtype, weight.device)
    tracked(node, result)
    return result


def _embedding_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient, edge = gradients[0], node.edges[0]
    return (None if gradient is None or edge is None else new(edge.shape, gradient.dtype, gradient.device),)


@operation("F.embedding_bag")
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, *_: Any, **__: Any) -> Tensor:
    """Sums or means of rows, one for each bag."""
    node = record((weight,), _embedding_back, (input, offsets))
    result = new(((offsets if offsets is not None else input).shape[0], weight.shape[1]), weight.dtype, weight.device)
    tracked(node, result)
    return result
