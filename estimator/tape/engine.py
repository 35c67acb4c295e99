"""Backward: nodes run from the latest to the earliest, leaves first, and let go of what they kept as soon as they ran.

After torch/csrc/autograd/engine.cpp and accumulate_grad.h: the order of gradient allocations falls out of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from estimator.tape.events import Kind, Phase
from estimator.tape.graph import Accumulation, Edge, Node, edge_to
from estimator.tape.not_followed import NotFollowed
from estimator.tape.run import current
from estimator.tape.shape import elementwise_strides, is_dense, is_laid_out
from estimator.tape.tensor import Tensor, new

_Buffers = dict[Node | Accumulation, list[Tensor | None]]


class _Ready:
    """Nodes whose gradients have all arrived: leaves first, then the latest recorded."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Node | Accumulation]] = []
        self._count = 0

    def push(self, node: Node | Accumulation) -> None:
        self._count += 1
        heappush(self._heap, (-node.sequence if isinstance(node, Node) else -(1 << 62), self._count, node))

    def __iter__(self) -> Iterator[Node | Accumulation]:
        while self._heap:
            yield heappop(self._heap)[2]


def backward(outputs: Sequence[Tensor], gradients: Sequence[Tensor | None], *, keep_graph: bool = False) -> None:
    """Run the graph backwards from ``outputs``; a missing gradient is one."""
    _run(outputs, gradients, keep_graph=keep_graph, wanted={})


def gradients_of(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], gradients: Sequence[Tensor | None], *, keep_graph: bool = False
) -> tuple[Tensor | None, ...]:
    """Gradients with respect to ``inputs`` instead of ``.grad`` fields (``torch.autograd.grad``)."""
    wanted: dict[tuple[Node | Accumulation, int], Tensor | None] = {}
    edges = [edge_to(tensor) for tensor in inputs]
    for edge in edges:
        wanted[edge.node, edge.output] = None
    _run(outputs, gradients, keep_graph=keep_graph, wanted=wanted)
    return tuple(wanted[edge.node, edge.output] for edge in edges)


def _run(
    outputs: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    *,
    keep_graph: bool,
    wanted: dict[tuple[Node | Accumulation, int], Tensor | None],
) -> None:
    tape = current()
    with tape.during(Phase.BACKWARD), tape.gradients(enabled=False):
        buffers: _Buffers = {}
        roots = [edge_to(output) for output in outputs]
        for output, edge, given in zip(outputs, roots, gradients, strict=True):
            _arrive(buffers, edge, new(output.shape, output.dtype, output.device) if given is None else given.alias())
        waiting = _dependencies([edge.node for edge in roots])
        ready = _Ready()
        for node in buffers:
            if not waiting[node]:
                ready.push(node)
        for node in ready:
            arrived = buffers.pop(node)
            for index in range(len(arrived) if wanted else 0):
                if (node, index) in wanted:
                    wanted[node, index] = arrived[index]
            if isinstance(node, Accumulation):
                if not wanted:
                    _accumulate(node.leaf, arrived.pop())
                continue
            for gradient in arrived:
                if gradient is not None:
                    gradient.claims -= 1
            gradient = None
            _step(node, arrived, buffers, waiting, ready, keep_graph=keep_graph)


def _step(node: Node, arrived: list[Tensor | None], buffers: _Buffers, waiting: Counter[Node | Accumulation], ready: _Ready, *, keep_graph: bool) -> None:
    """Run one node and pass its results on; what came in and what it kept is then let go."""
    tape = current()
    tape.place = node.place
    results: list[Tensor | None] = [None] * len(node.edges)
    if any(gradient is not None for gradient in arrived):
        results = list(node.backward(node, arrived))
        node.unpacked = ()
        for i, edge in enumerate(node.edges):
            result = results[i]
            results[i] = None if edge is None or result is None else _fitted(result, edge)
            del result
    arrived.clear()
    if not keep_graph:
        node.release()
    for i, edge in enumerate(node.edges):
        if edge is None:
            continue
        result, results[i] = results[i], None
        _arrive(buffers, edge, result)
        del result
        waiting[edge.node] -= 1
        if not waiting[edge.node]:
            ready.push(edge.node)


def _dependencies(roots: Sequence[Node | Accumulation]) -> Counter[Node | Accumulation]:
    """How many gradients each reachable node waits for."""
    waiting: Counter[Node | Accumulation] = Counter()
    seen = set(roots)
    todo = list(seen)
    while todo:
        for edge in todo.pop().edges:
            if edge is None:
                continue
            waiting[edge.node] += 1
            if edge.node not in seen:
                seen.add(edge.node)
                todo.append(edge.node)
    return waiting


def _arrive(buffers: _Buffers, edge: Edge, gradient: Tensor | None) -> None:
    """Add a gradient to the ones that wait at a node: in place if nobody else sees the waiting one."""
    outputs = edge.node.outputs if isinstance(edge.node, Node) else 1
    slots = buffers.setdefault(edge.node, [None] * max(outputs, edge.output + 1))
    waiting = slots[edge.output]
    if gradient is None:
        return
    if waiting is None:
        gradient.claims += 1
        slots[edge.output] = gradient
    elif waiting.claims > 1 or waiting.storage.aliases > 1 or not is_dense(*waiting.layout_key):
        waiting.claims -= 1
        strides = elementwise_strides(waiting.shape, [waiting.layout_key, gradient.layout_key])
        total = new(waiting.shape, waiting.dtype, waiting.device, strides)
        total.claims = 1
        slots[edge.output] = total
    elif isinstance(edge.node, Accumulation):
        current().might_take(waiting.storage.size)


def _fitted(gradient: Tensor, edge: Edge) -> Tensor:
    """The gradient in the shape and dtype of what it is the gradient of: broadcast dimensions summed, then cast."""
    if gradient.shape != edge.shape:
        gradient = summed_to(gradient, edge.shape)
    if gradient.dtype != edge.dtype:
        gradient = new(gradient.shape, edge.dtype, gradient.device, elementwise_strides(gradient.shape, [gradient.layout_key]))
    return gradient


def summed_to(gradient: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The sum over the dimensions along which ``shape`` was broadcast."""
    if len(gradient.shape) < len(shape):
        raise NotFollowed(f"a gradient of shape {tuple(gradient.shape)} for {tuple(shape)}")
    return new(shape, gradient.dtype, gradient.device)


def _accumulate(leaf: Tensor, gradient: Tensor | None) -> None:
    """Take the gradient as ``.grad`` (copied if someone else sees it or its layout is not the leaf's), or add it in place."""
    if gradient is None:
        return
    gradient.claims -= 1
    if leaf.grad is None:
        if gradient.claims or not _has_layout_of(leaf, gradient):
            strides = leaf.strides if is_dense(*leaf.layout_key) else None
            gradient = new(leaf.shape, leaf.dtype, leaf.device, strides)
        leaf.grad = gradient.alias().became(Kind.GRADIENTS)
    del gradient
    for hook in leaf.hooks or ():
        current().call(hook, (leaf,), {})


def _has_layout_of(leaf: Tensor, gradient: Tensor) -> bool:
    if is_dense(*leaf.layout_key):
        return is_laid_out(leaf.shape, gradient.strides, leaf.strides)
    return gradient.contiguous_layout
