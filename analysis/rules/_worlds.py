"""Whether a trace is of a program that runs on several ranks for sure. Shared by rules, and no rule itself."""

from __future__ import annotations

from analysis.rules._collectives import by_rank
from analysis.rules._named_guards import is_behind_named_rank
from analysis.trace import Trace
from analysis.trace.events import Event, Kind

#: Wrappers that only make sense on several ranks.
_WRAPPERS = frozenset({"ddp", "fsdp", "fsdp2", "deepspeed"})


def several_ranks(trace: Trace) -> bool:
    """Whether this run set up its process group, wrapped a model for one or exchanged something: with its flags off, a program runs alone."""
    if not trace.distributed:
        return False
    exchanged = any(not trace.undecided(event) for event in trace.events(Kind.COLLECTIVE))
    return exchanged or any(True for _ in trace.events(Kind.INIT_DISTRIBUTED)) or any(event.detail in _WRAPPERS for event in trace.events(Kind.WRAP))


def where_it_shows(trace: Trace) -> Event:
    """What says that a run for which ``several_ranks`` holds is one of several ranks."""
    return next(event for kind in (Kind.INIT_DISTRIBUTED, Kind.WRAP, Kind.COLLECTIVE) for event in trace.events(kind))


def on_every_rank(trace: Trace, event: Event) -> bool:
    """Whether no condition on the rank stands before the event, nor one on a number that is called a rank."""
    return not any(by_rank(guard) for guard in event.context.rank_guards) and not is_behind_named_rank(trace, event)
