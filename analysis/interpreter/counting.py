"""Ranges whose length the source does not tell: their counters are numbers all the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from analysis.interpreter.values import Value


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
