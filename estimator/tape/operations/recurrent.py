"""Recurrent layers as cuDNN runs them, and single cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from estimator.tape.agreement import must_agree
from estimator.tape.dtype import UINT8
from estimator.tape.graph import Node, record, tracked
from estimator.tape.registry import operation
from estimator.tape.run import current
from estimator.tape.shape import Shape, contiguous_strides
from estimator.tape.tensor import Tensor, new

#: Gates of each kind of layer; what training keeps a step is these and, but for the plain kind, two states.
_GATES = {"lstm": 4, "gru": 3, "rnn": 1}


class Recurrence(NamedTuple):
    """The shape of a stack of recurrent layers."""

    kind: str
    hidden: int
    layers: int
    directions: int
    dropout: float


class _Made(NamedTuple):
    weights: tuple[Shape, ...]
    states: int


@operation("_C._recurrent_layers")
def recurrent_layers(x: Tensor, states: Sequence[Tensor], weights: Sequence[Tensor], recurrence: Sequence[Any]) -> tuple[Tensor, ...]:
    """Output over (length, batch, width) and the last states. Keeps input, states, weights, the output and cuDNN's reserve.

    The reserve's size is cuDNN's own affair; here it is gates and states of every step, and a byte for each dropped element between layers.
    """
    shape = Recurrence(*recurrence)
    must_agree(not weights or x.shape[-1] == weights[0].shape[-1], "a recurrent layer", x, weights[0] if weights else None)
    length, batch, _ = x.shape
    current().assume("what cuDNN keeps of a recurrent layer for backward: its gates and states at every step")
    node = record((x, *states, *weights), _recurrent_back, (x, *states, *weights), _Made(tuple(w.shape for w in weights), len(states)))
    output = new((length, batch, shape.hidden * shape.directions), x.dtype, x.device)
    last = [new((shape.layers * shape.directions, batch, shape.hidden), x.dtype, x.device) for _ in states]
    if node is not None:
        node.keep(output, _reserve(x, shape))
        # PyTorch's own cells, which run where cuDNN does not, keep both inputs of the gates as well.
        current().might_keep(2 * _GATES[shape.kind] * shape.layers * length * batch * shape.hidden * shape.directions * x.itemsize)
    tracked(node, output, *last)
    return (output, *last)


def _reserve(x: Tensor, shape: Recurrence) -> Tensor:
    length, batch, _ = x.shape
    elements = length * batch * shape.hidden * shape.directions
    gates = _GATES[shape.kind]
    kept = gates + (2 if gates > 1 else 0)
    size = shape.layers * elements * kept * x.itemsize + (elements * (shape.layers - 1) if shape.dropout else 0)
    return new((size,), UINT8, x.device)


def _recurrent_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """Gradients of the input, of the states, and of all weights in one buffer."""
    x, *_ = node.unpack()
    if x is None:
        return (None,) * len(node.edges)
    made: _Made = node.context
    first = [new(edge.shape, edge.dtype, x.device) if edge is not None else None for edge in node.edges[: 1 + made.states]]
    sizes = [_count(shape) for shape in made.weights]
    whole = new((sum(sizes),), x.dtype, x.device)
    rest: list[Tensor | None] = []
    start = 0
    for edge, shape, size in zip(node.edges[1 + made.states :], made.weights, sizes, strict=True):
        rest.append(whole.view_of_storage(shape, contiguous_strides(shape), start) if edge is not None else None)
        start += size
    return (*first, *rest)


def _count(shape: Shape) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


@operation("_C._lstm_cell")
def lstm_cell(input_gates: Tensor, hidden_gates: Tensor, cell: Tensor, *biases: Tensor | None) -> tuple[Tensor, Tensor]:
    """The fused cell: keeps both inputs of the gates, the old and the new cell state and a workspace of all gates."""
    node = record((input_gates, hidden_gates, cell, *biases), _cell_back, (input_gates, hidden_gates, cell))
    hidden, state = new(cell.shape, cell.dtype, cell.device), new(cell.shape, cell.dtype, cell.device)
    workspace = new(input_gates.shape, cell.dtype, cell.device)
    if node is not None:
        node.keep(state, workspace)
    tracked(node, hidden, state)
    return hidden, state


@operation("_C._gru_cell")
def gru_cell(input_gates: Tensor, hidden_gates: Tensor, hidden: Tensor, *biases: Tensor | None) -> Tensor:
    """The fused cell: keeps both inputs of the gates, the old state and a workspace of five values a unit."""
    node = record((input_gates, hidden_gates, hidden, *biases), _cell_back, (input_gates, hidden_gates, hidden))
    result = new(hidden.shape, hidden.dtype, hidden.device)
    if node is not None:
        node.keep(new((hidden.shape[0], hidden.shape[1] * 5), hidden.dtype, hidden.device))
    tracked(node, result)
    return result


def _cell_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    node.unpack()
    given = next(gradient for gradient in gradients if gradient is not None)
    return [None if edge is None else new(edge.shape, edge.dtype, given.device) for edge in node.edges]
