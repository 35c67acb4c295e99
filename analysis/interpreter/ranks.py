"""Which conditions that ranks answer differently control is under: pushed by branches, dropped where the ways meet again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.trace.events import RankGuard

if TYPE_CHECKING:
    from analysis.interpreter.frames import Exit, Frame
    from analysis.interpreter.machine import Machine
    from analysis.interpreter.values import Value
    from analysis.source import Span


@dataclass(slots=True)
class Taken:
    """One arm: whether the condition held, how the arm left, and the exits inside it that were undecided."""

    holds: bool
    left: Exit | None = None
    raised: bool = True
    perhaps: tuple[Exit, ...] = ()


class Ranks:
    """One branch. While an arm runs, what happens there is under the branch's condition if ranks answer it differently."""

    __slots__ = ("_inside", "_pending", "arms", "division", "escaped", "frame", "machine", "outer", "span")

    def __init__(self, machine: Machine, span: Span, frame: Frame) -> None:
        self.machine = machine
        self.span = span
        self.frame = frame
        self.division = machine.divisions.get(span)
        self.outer = machine.guards
        self.escaped: tuple[RankGuard, ...] = ()
        self.arms: list[Taken] = []
        self._inside = self._pending = 0

    def begin(self, *, holds: bool) -> None:
        """An arm begins, taken where the condition ``holds`` or where it does not."""
        self.arms.append(Taken(holds))
        self.machine.guards = self.outer if self.division is None else (*self.outer, *self._guard(holds=holds))
        self._inside, self._pending = len(self.machine.guards), len(self.frame.pending)

    def left_by(self, left: Exit | None) -> None:
        """The arm that began last has run, and ends in ``left`` (None: it falls through)."""
        taken = self.arms[-1]
        taken.left, taken.raised = left, False
        taken.perhaps = tuple(each for each, _ in self.frame.pending[self._pending :])
        if left is None:
            self.escaped += self.machine.guards[self._inside :]
        elif left.divided is None and self.division is not None:
            left.divided = self.division[0], taken.holds

    def end(self) -> None:
        """The arm is over, however it ended."""
        self.machine.guards = self.outer

    def close(self) -> None:
        """The ways meet: where some of the arms left, or may have, what follows is reached by the ranks of the others."""
        self.machine.guards = (*self.outer, *self.escaped)
        if self.division is None or len(self.arms) < 2:  # noqa: PLR2004  one arm alone divides nobody
            return
        for taken in self.arms:
            for left in (taken.left,) if taken.left is not None else taken.perhaps[:1]:
                if any(other is not taken and other.left is None and not other.raised for other in self.arms):
                    self.machine.guards += self._guard(holds=not taken.holds, left=left, surely=left is taken.left)

    def _guard(self, *, holds: bool, left: Exit | None = None, surely: bool = True) -> tuple[RankGuard, ...]:
        """Who gets past: those who answered ``holds``, and, if the others left only perhaps, some of those too."""
        if self.division is None:
            return ()
        condition, zero, others = self.division
        passes = [None if answer is None or (answer != holds and not surely) else answer == holds for answer in (zero, others)]
        return (RankGuard(self.span, condition, passes[0], passes[1], left.kind if left else "", self.machine.path, left.span if left else None),)


def dropped(guards: tuple[RankGuard, ...], since: int, *kinds: str) -> tuple[RankGuard, ...]:
    """``guards`` without those that were pushed after the first ``since`` and hold until an exit of these kinds is caught."""
    return (*guards[:since], *(guard for guard in guards[since:] if guard.until not in kinds))


def differing(machine: Machine, condition: Value, span: Span, *, later: bool = False) -> tuple[RankGuard, ...]:
    """The guard of a loop whose number of rounds differs between ranks; ``later``: what happened in a round decides whether there is another."""
    varies = getattr(condition, "rank_varying", False) is True
    return (RankGuard(span, condition, None, None, "break", machine.path, span if later else None),) if varies else ()
