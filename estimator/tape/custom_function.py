"""``torch.autograd.Function``: the guest's own forward and backward as one node of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis.interpreter.values import HostValue
from estimator.tape.graph import Node, record, tracked
from estimator.tape.run import current
from estimator.tape.tensor import Tensor


class FunctionContext(HostValue):
    """The ``ctx`` of a custom function. What it saves is kept by the node, not by itself: an output in it would be a cycle."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Tensor | None, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for backward."""
        self.saved_tensors = tensors

    def mark_dirty(self, *_: Tensor) -> None:
        """In-place writes cost nothing."""

    def mark_non_differentiable(self, *_: Tensor) -> None:
        """What needs no gradient gets none."""

    def set_materialize_grads(self, _value: bool) -> None:  # noqa: FBT001  PyTorch's signature
        """Missing gradients are zeros by default."""


def apply_function(forward: Any, backward: Any, setup_context: Any, args: tuple[Any, ...]) -> Any:
    """Run ``forward`` without recording, and record the whole as one node."""
    tape = current()
    context = FunctionContext(tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args))
    node = record([arg if isinstance(arg, Tensor) else None for arg in args], _back, context=(backward, context))
    with tape.gradients(enabled=False):
        if setup_context is None:
            result = tape.call(forward, (context, *args), {})
        else:
            result = tape.call(forward, args, {})
            tape.call(setup_context, (context, args, result), {})
    saved, context.saved_tensors = context.saved_tensors, ()
    if node is None:
        return result
    node.keep(*saved)
    results = [result] if isinstance(result, Tensor) else list(result)
    outputs = [each.alias() if any(each is arg for arg in args) else each for each in results]
    tracked(node, *(each for each in outputs if isinstance(each, Tensor) and each.dtype.is_floating_point))
    return outputs[0] if isinstance(result, Tensor) else tuple(outputs)


def _back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    backward, context = node.context
    context.saved_tensors = node.unpack()
    results = current().call(backward, (context, *gradients), {})
    context.saved_tensors = ()
    given = [results] if isinstance(results, Tensor) or results is None else list(results)
    return [given[i] if i < len(given) and edge is not None else None for i, edge in enumerate(node.edges)]
