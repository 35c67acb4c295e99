"""Padding: constant, reflected or replicated borders; keeps nothing (constant) or the input (the others)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from estimator.tape.graph import Node, record, tracked
from estimator.tape.registry import operation
from estimator.tape.tensor import Tensor, new


@operation("F.pad", "constant_pad_nd")
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Tensor:
    """Borders added (negative: cut off) from the last dimension on."""
    x = input
    shape = list(x.shape)
    for i in range(len(pad) // 2):
        shape[-1 - i] += pad[2 * i] + pad[2 * i + 1]
    node = record((x,), _padded_back, () if mode == "constant" else (x,))
    result = new(tuple(shape), x.dtype, x.device)
    tracked(node, result)
    return result


def _padded_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient, edge = gradients[0], node.edges[0]
    return (None if gradient is None or edge is None else new(edge.shape, gradient.dtype, gradient.device),)
