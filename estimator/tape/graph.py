"""The autograd graph: nodes with a sequence number, edges to what they were computed from, tensors kept for backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias
from weakref import ref

from estimator.tape.dtype import Dtype
from estimator.tape.run import current
from estimator.tape.saved import Saved
from estimator.tape.shape import Shape
from estimator.tape.tensor import Tensor

#: Gradients of a node's outputs (None where none arrived) to gradients of its inputs (None where none is needed).
Backward: TypeAlias = Callable[["Node", Sequence[Tensor | None]], Sequence[Tensor | None]]


class Edge(NamedTuple):
    """Where a gradient goes: an output of ``node``, and the shape and dtype it must have there."""

    node: Node | Accumulation
    output: int
    shape: Shape
    dtype: Dtype


class Node:
    """One recorded operation. ``context`` is what its backward needs besides tensors (never a tensor: that could be a cycle)."""

    __slots__ = ("__weakref__", "backward", "context", "edges", "outputs", "place", "saved", "sequence", "unpacked")

    def __init__(self, inputs: Sequence[Tensor | None], backward: Backward, context: Any) -> None:
        tape = current()
        self.backward = backward
        self.context = context
        self.edges = tuple(_edge(tensor) for tensor in inputs)
        self.saved: list[Saved | None] | None = []
        self.unpacked: tuple[Tensor | None, ...] = ()
        self.sequence = tape.sequence()
        self.place = tape.place
        self.outputs = 0

    def needs(self, index: int) -> bool:
        """Whether input ``index`` wants a gradient."""
        return self.edges[index] is not None

    def unpack(self) -> tuple[Tensor | None, ...]:
        """The tensors kept for backward. They stay until the node has run, also those that only now exist again."""
        if self.saved is None:
            raise RuntimeError("trying to backward through the graph a second time")
        self.unpacked = tuple(None if saved is None else saved.unpack() for saved in self.saved)
        return self.unpacked

    def keep(self, *tensors: Tensor | None) -> None:
        """Keep further tensors (outputs) for backward."""
        if self.saved is not None:
            self.saved.extend(None if tensor is None else Saved(tensor) for tensor in tensors)

    def release(self) -> None:
        """Let go of what was kept, the first first."""
        kept, self.saved = self.saved or [], None
        for i in range(len(kept)):
            kept[i] = None


class Accumulation:
    """The end of the graph at a leaf: adds what arrives to its ``.grad``. Shared by all uses of the leaf while any is alive."""

    __slots__ = ("__weakref__", "edges", "leaf")

    def __init__(self, leaf: Tensor) -> None:
        self.leaf = leaf
        self.edges: tuple[Edge | None, ...] = ()


def edge_to(tensor: Tensor) -> Edge:
    """The edge along which the gradient of ``tensor`` flows on."""
    if tensor.grad_fn is not None:
        return Edge(tensor.grad_fn, tensor.output_index, tensor.shape, tensor.dtype)
    node = tensor.accumulation() if tensor.accumulation is not None else None
    if node is None:
        node = Accumulation(tensor)
        tensor.accumulation = ref(node)
    return Edge(node, 0, tensor.shape, tensor.dtype)


def _edge(tensor: Tensor | None) -> Edge | None:
    return edge_to(tensor) if tensor is not None and tensor.requires_grad else None


def record(inputs: Sequence[Tensor | None], backward: Backward, save: Sequence[Tensor | None] = (), context: Any = None) -> Node | None:
    """Begin a differentiable operation: its inputs are kept *before* its result is made, as PyTorch does.

    None if no gradient will flow through it.
    """
    if not current().grad_enabled or not any(tensor is not None and tensor.requires_grad for tensor in inputs):
        return None
    node = Node(inputs, backward, context)
    node.keep(*save)
    return node


def tracked(node: Node | None, *outputs: Tensor) -> None:
    """End a differentiable operation: its results are the node's outputs."""
    if node is None:
        return
    for output in outputs:
        output.grad_fn = node
        output.output_index = node.outputs
        output.requires_grad = True
        node.outputs += 1
