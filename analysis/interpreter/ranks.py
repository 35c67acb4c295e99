"""Which conditions that ranks answer differently control is under: pushed by branches, dropped where the ways meet again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.trace.events import RankGuard

if TYPE_CHECKING:
    from analysis.interpreter.frames import Exit
    from analysis.interpreter.machine import Machine
    from analysis.interpreter.values import Value
    from analysis.source import Span


@dataclass(slots=True)
class Taken:
    """One arm: whether the condition held, and how the arm left."""

    holds: bool
    left: Exit | None = None
    raised: bool = True


class Ranks:
    """One branch. While an arm runs, what happens there is under the branch's condition if ranks answer it differently."""

    __slots__ = ("arms", "division", "escaped", "machine", "outer", "span")

    def __init__(self, machine: Machine, span: Span) -> None:
        self.machine = machine
        self.span = span
        self.division = machine.divisions.get(span)
        self.outer = machine.guards
        self.escaped: tuple[RankGuard, ...] = ()
        self.arms: list[Taken] = []

    @contextmanager
    def arm(self, *, holds: bool) -> Iterator[Taken]:
        """One arm, taken where the condition ``holds`` or where it does not."""
        taken = Taken(holds)
        self.arms.append(taken)
        self.machine.guards = (*self.outer, *self._guard(holds=holds, until=""))
        inside = len(self.machine.guards)
        try:
            yield taken
            taken.raised = False
            if taken.left is None:
                self.escaped += self.machine.guards[inside:]
        finally:
            self.machine.guards = self.outer

    def close(self) -> None:
        """The ways meet: where only some of the arms left, what follows is reached by the ranks of the others."""
        leaving = next((taken.left for taken in self.arms if taken.left is not None), None)
        staying = next((taken for taken in self.arms if taken.left is None and not taken.raised), None)
        if leaving is None:
            self.machine.guards = (*self.outer, *self.escaped)
        elif len(self.arms) > 1 and staying is not None:
            self.machine.guards = (*self.outer, *self.escaped, *self._guard(holds=staying.holds, until=leaving.kind))

    def _guard(self, *, holds: bool, until: str) -> tuple[RankGuard, ...]:
        if self.division is None:
            return ()
        condition, zero, others = self.division
        passes = [None if answer is None else answer == holds for answer in (zero, others)]
        return (RankGuard(self.span, condition, passes[0], passes[1], until, self.machine.path),)


def dropped(guards: tuple[RankGuard, ...], since: int, *kinds: str) -> tuple[RankGuard, ...]:
    """``guards`` without those that were pushed after the first ``since`` and hold until an exit of these kinds is caught."""
    return (*guards[:since], *(guard for guard in guards[since:] if guard.until not in kinds))


def differing(machine: Machine, condition: Value, span: Span) -> tuple[RankGuard, ...]:
    """The guard of a loop whose number of rounds differs between ranks."""
    return (RankGuard(span, condition, None, None, "break", machine.path),) if getattr(condition, "rank_varying", False) is True else ()
