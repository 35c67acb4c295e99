"""What happened on a tape, in few words."""

from __future__ import annotations

from collections import Counter

from estimator.tape.events import Allocated, Became, Freed, Kind
from estimator.tape.run import Tape


def sizes(tape: Tape) -> list[int]:
    """The log as sizes: positive where memory was taken, negative where it was given back."""
    known: dict[int, int] = {}
    log = []
    for event in tape.events:
        if isinstance(event, Allocated):
            known[event.key] = event.size
            log.append(event.size)
        elif isinstance(event, Freed):
            log.append(-known.get(event.key, 0))
    return log


def alive(tape: Tape) -> int:
    """Bytes that are allocated now."""
    return sum(sizes(tape))


def kinds(tape: Tape) -> Counter[Kind]:
    """Bytes that are allocated now, by what they are."""
    held: dict[int, tuple[int, Kind]] = {}
    for event in tape.events:
        if isinstance(event, Allocated):
            held[event.key] = (event.size, event.kind)
        elif isinstance(event, Became):
            held[event.key] = (held[event.key][0], event.kind)
        elif isinstance(event, Freed):
            del held[event.key]
    found: Counter[Kind] = Counter()
    for size, kind in held.values():
        found[kind] += size
    return found
