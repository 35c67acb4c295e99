"""Ranges whose length the source does not tell: their counters are numbers all the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from analysis.interpreter.values import HostFunction, Instance, Symbol, Value


class Counting:
    """A range without a known end; ``stop`` is what the source says of it. ``rank_varying``: it differs between ranks."""

    __slots__ = ("rank_varying", "start", "step", "stop")

    def __init__(self, start: int, step: int, stop: Value, *, rank_varying: bool = False) -> None:
        self.start = start
        self.step = step
        self.stop = stop
        self.rank_varying = rank_varying

    def __iter__(self) -> Iterator[int]:
        return itertools.count(self.start, self.step)


def rounds_of(source: Value) -> Value:
    """How often a loop over a range goes round, as the source says it: ``n`` of ``range(n)`` and of ``range(1, n + 1)``; None for anything else.

    A library's object that shows what it goes through, a progress bar say, keeps that as its ``iterable``.
    """
    match source:
        case Instance(fields={"iterable": shown}) if isinstance(source.cls.find("__iter__"), HostFunction):
            return rounds_of(shown)
        case range():
            return len(source)
        case Counting(start=0, step=1, stop=stop):
            return stop
        case Counting(start=int(start), step=1, stop=Symbol(test=("+", rounds, int(more))) | Symbol(test=("+", int(more), rounds))) if start == more:
            return rounds
        case Counting(start=int(start), step=1, stop=Symbol() as stop):
            return stop.part(f"-{start}")
    return None
