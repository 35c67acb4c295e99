"""A backward pass walked over PyTorch's graph, node by node, without running it.

Each node's gradients are counted from the shapes that the graph records, and the node is let go, so that what it kept is freed when the real
engine would free it. Nodes run in the order of their numbers, the latest first, as the engine runs them.
"""

from __future__ import annotations

import heapq
from typing import Any

from estimator.guard.tracking import Tracker, backward_scratch
from estimator.tape.events import rounded

#: Backwards that hand the gradient on as it is, or as a view of it.
_HAND_ON = (
    "View", "UnsafeView", "Reshape", "Transpose", "T", "Permute", "Unsqueeze", "Squeeze", "Add", "Alias", "Clone", "Detach", "Chunk", "Identity",
)  # fmt: skip
_PRODUCTS = ("Mm", "Addmm", "Bmm", "Baddbmm", "Linear")


class _Pending:
    """Gradients that wait for a node, by the output they belong to; a storage may wait in several places."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.waiting: dict[Any, dict[int, int]] = {}
        self.holders: dict[int, int] = {}

    def hold(self, key: int) -> int:
        self.holders[key] = self.holders.get(key, 0) + 1
        return key

    def release(self, key: int) -> None:
        self.holders[key] -= 1
        if not self.holders[key]:
            del self.holders[key]
            self.tracker.free(key)

    def arrive(self, node: Any, place: int, key: int, size: int) -> None:
        """A gradient for an output: the first waits, a further one is added to it."""
        slots = self.waiting.setdefault(node, {})
        if place not in slots:
            slots[place] = key
            return
        if self.holders[slots[place]] > 1:  # somebody else reads it: the sum takes memory of its own
            summed = self.hold(self.tracker.allocate(size))
            self.release(slots[place])
            slots[place] = summed
        self.release(key)


def walk_backward(tracker: Tracker, roots: list[Any]) -> int:
    """Walk the backward from the one node in ``roots``, which is taken out; the bytes of gradients that stay with the parameters."""
    pending = _Pending(tracker)
    root = roots.pop()
    pending.waiting[root] = {0: pending.hold(tracker.allocate(rounded(4)))}
    heap: list[tuple[int, int, Any]] = [(-root._sequence_nr(), 0, root)]  # noqa: SLF001  the engine's own order
    entered, kept = 1, 0
    owned: dict[int, int] = {}
    del root
    while heap:
        _, _, node = heapq.heappop(heap)
        incoming = pending.waiting.pop(node)
        if tracker.checkpoints:
            _recompute(node)
        sizes = [_size(each) for each in node._input_metadata]  # noqa: SLF001
        _take_scratch(tracker, node)
        for following, place in node.next_functions:
            if following is None:
                continue
            size = _size(following._input_metadata[place])  # noqa: SLF001
            shared = _handed_on(node, incoming, sizes, size)
            key = pending.hold(tracker.allocate(size) if shared is None else shared)
            if following.name().endswith("AccumulateGrad"):
                kept += _accumulate(pending, owned, following, key, size)
                continue
            if following not in pending.waiting:
                heapq.heappush(heap, (-following._sequence_nr(), entered, following))  # noqa: SLF001
                entered += 1
            pending.arrive(following, place, key, size)
        for key in incoming.values():
            pending.release(key)
        following = None
        del node
    return kept


def _size(metadata: Any) -> int:
    size = metadata.dtype.itemsize
    for edge in metadata.shape:
        size *= int(edge)
    return rounded(size)


def _base(name: str) -> str:
    return name.rpartition("::")[2].partition("Backward")[0]


def _handed_on(node: Any, incoming: dict[int, int], sizes: list[int], size: int) -> int | None:
    """The incoming gradient that goes on unchanged; None where the node makes a new one."""
    if _base(node.name()) not in _HAND_ON or len(incoming) != 1:
        return None
    place, key = next(iter(incoming.items()))
    return key if sizes[place] == size else None


def _take_scratch(tracker: Tracker, node: Any) -> None:
    name = node.name()
    if _base(name) in _PRODUCTS:
        tracker.workspace(backward=True)
    metadata = node._input_metadata[0]  # noqa: SLF001
    extra = backward_scratch(name, tuple(int(edge) for edge in metadata.shape), metadata.dtype.itemsize)
    if extra:
        tracker.scratch(extra)


def _accumulate(pending: _Pending, owned: dict[int, int], node: Any, key: int, size: int) -> int:
    """A parameter keeps its first gradient; a further one is added in place."""
    name = id(node.variable)
    if name in owned:
        pending.release(key)
        return 0
    if pending.holders[key] > 1:
        copied = pending.hold(pending.tracker.allocate(size))
        pending.release(key)
        key = copied
    owned[name] = key
    return size


def _recompute(node: Any) -> None:
    """Unpack what the node kept: where it was checkpointed, its region runs anew now."""
    for name in dir(node):
        if name.startswith("_saved_"):
            getattr(node, name)
