"""Graphs that several backwards go through. Shared by rules, and no rule itself."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.library.losses import LOSSES
from analysis.library.tensor import Tensor
from analysis.rules._objects import forward_numbers, numbers_in
from analysis.trace import Trace
from analysis.trace.events import Event, Kind

_NAMES = """
add sub mul truediv neg pow matmul abs exp log sqrt rsqrt square mean sum min max prod norm std var clamp where minimum maximum sigmoid tanh relu softmax
log_softmax view reshape squeeze unsqueeze flatten permute transpose contiguous clone to float double getitem index_select gather stack cat expand repeat
flip cumsum cumprod unbind chunk split
"""
#: Operations that surely carry the graph on. Other code may cut it where nobody looks.
_CARRYING = frozenset({*LOSSES.values(), *_NAMES.split()})
_MOST = 400


def reused(trace: Trace) -> Iterator[tuple[Event, Event]]:
    """Forwards outside a loop whose graph is back-propagated in more than one of its rounds, each with the first such backward."""
    made = {number: event for event in trace.events(Kind.FORWARD) for number in forward_numbers(event)}
    first: dict[int, Event] = {}
    told: set[int] = set()
    for backward in trace.events(Kind.BACKWARD):
        for number in sorted(numbers_in([backward.value])):
            forward, before = made.get(number), first.setdefault(number, backward)
            if forward is None or number in told or not _another_round(forward, before, backward) or not _surely_reaches(backward.value, number):
                continue
            told.add(number)
            yield forward, before


def _another_round(forward: Event, before: Event, backward: Event) -> bool:
    """Whether the two backwards are rounds of a loop that began after the forward, and the graph is not kept on purpose."""
    if any((event.detail or {}).get(option) for event in (before, backward) for option in ("retain_graph", "create_graph")):
        return False
    stamp, one, other = forward.context.stamp, before.context.stamp, backward.context.stamp
    depth = len(stamp)
    if one[:depth] != stamp or other[:depth] != stamp or len(one) <= depth or len(other) <= depth:
        return False
    return one[depth][0] == other[depth][0] and one[depth][1] != other[depth][1]


def _surely_reaches(loss: Tensor, number: int) -> bool:
    """Whether the graph leads from ``loss`` to the output of that forward through nothing that may cut it."""
    todo, seen = [loss], {loss}
    while todo and len(seen) < _MOST:
        made = todo.pop().made
        if made is None or made.op not in _CARRYING:
            continue
        for tensor in made.tensors:
            if number not in tensor.forwards or tensor in seen:
                continue
            if tensor.made is not None and number not in numbers_in(tensor.made.tensors):
                return True
            seen.add(tensor)
            todo.append(tensor)
    return False
