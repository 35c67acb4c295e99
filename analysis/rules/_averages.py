"""Averages and sums of weights that take in their predecessor together with its graph. Shared by rules, and no rule itself."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.interpreter.values import Stamp
from analysis.library.tensor import Parameter
from analysis.rules._sources import attached_in
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import within


def growing_averages(trace: Trace) -> Iterator[Event]:
    """Stores of a value made of parameters and of its own predecessor, in an iteration that trains, which no backward goes through."""
    steps = [event.context.stamp for event in trace.events(Kind.STEP)]
    for store in trace.events(Kind.STORE):
        detail, value = store.detail, store.value
        if not (detail.outlives and detail.grows and detail.since is not None and value.owners) or value.forwards or isinstance(value, Parameter):
            continue
        iteration = _iteration(detail.since, store.context.stamp)
        if iteration and any(within(stamp, iteration) for stamp in steps) and not _back_propagated(trace, store):
            yield store


def _iteration(before: Stamp, now: Stamp) -> Stamp:
    """The iteration that runs, of the innermost loop of which ``before`` lies in an earlier one; () if there is none."""
    for level, (old, new) in enumerate(zip(before, now, strict=False)):
        if old != new:
            return now[: level + 1] if old[0] == new[0] else ()
    return ()


def _back_propagated(trace: Trace, store: Event) -> bool:
    return any(store.value.made in attached_in(event.value) for event in trace.events(Kind.BACKWARD, Kind.GRADIENT_CALL))
