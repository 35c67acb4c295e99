"""Graphs that several backwards go through. Shared by rules, and no rule itself."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.rules._objects import forward_numbers, numbers_in
from analysis.trace import Trace
from analysis.trace.events import Event, Kind


def reused(trace: Trace) -> Iterator[tuple[Event, Event]]:
    """Forwards outside a loop whose graph is back-propagated in more than one of its rounds, each with the first such backward."""
    made = {number: event for event in trace.events(Kind.FORWARD) for number in forward_numbers(event)}
    first: dict[int, Event] = {}
    told: set[int] = set()
    for backward in trace.events(Kind.BACKWARD):
        for number in sorted(numbers_in([backward.value])):
            forward, before = made.get(number), first.setdefault(number, backward)
            if forward is None or number in told or not _another_round(forward, before, backward):
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
