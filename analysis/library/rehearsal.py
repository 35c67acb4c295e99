"""How often loops go round: loops that train run some windows with concrete counters, all others as little as tells the same.

A loop is known to train once a backward or a step happened in one of its iterations. Counters are real numbers, so that
``i % n``, ``(i + 1) % n`` and ``i == len(loader) - 1`` decide as they would; a window too large to rehearse is shrunk.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from analysis.interpreter.values import MISSING, Symbol, Value
from analysis.library.counters import count_of, is_counted
from analysis.library.noting import notes
from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace.events import Kind

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

#: A modulus up to this is rehearsed as it is: two windows and a tail are then 35 batches at most.
LARGEST_WINDOW = 16
#: What a larger or unknown modulus of a counter becomes.
SHRUNK_WINDOW = 3
#: What a threshold becomes that no rehearsed counter reaches.
NEAR = 3
#: Rounds of a loop whose inner loop trains, of an evaluation loop, and of anything whose length is not known.
FEW = 2
#: A loop over so much known content, a list of layers say, runs over all of it.
KNOWN_CONTENT = 64
#: A loop over so few items (the losses or optimizers of a step) is not the loop over batches.
LISTED = 4
#: Steps that such a loop may take; beyond them, few rounds tell enough.
CHEAP_LOOP = 1_500
#: Steps after which a loop that trains runs no more rounds than its windows ask for: what comes behind it, and in other loops, is to be seen too.
COSTLY_LOOP = 12_000
#: Rounds that show what goes on from one to the next, where no window is counted.
SOME = 4

_TRAINING = frozenset({Kind.BACKWARD, Kind.STEP})


@dataclass(frozen=True, slots=True)
class Horizon:
    """``rounds``: how often a loop that trains runs, which is also the number of batches that a loader gives."""

    rounds: int = 11

    @classmethod
    def for_window(cls, window: int) -> Horizon:
        """Two windows and a tail of the largest window that was seen."""
        return cls(max(cls().rounds, 2 * window + 3))


#: A run that only collects what is done to arguments.
SHORT = Horizon(FEW)


@dataclass(slots=True)
class Plan:
    """One running loop. ``trains``: a backward or step happened in it; ``holds``: in a loop inside it; ``forwards``: a model ran in it.

    ``counted``: something begins once its counter has passed a threshold, so that later rounds do what the first do not.
    ``guards``: the conditions on ranks under which the last round began; where one came up by which some may have left, one more
    round shows what the others come to without them.
    """

    rehearsal: Rehearsal
    machine: Machine
    length: int | None
    steps: int
    trains: bool = False
    forwards: bool = False
    counted: bool = False
    holds: bool = False
    guards: int = 0

    def another(self, done: int) -> bool:
        """Whether to run one more iteration after ``done``."""
        before, self.guards = self.guards, len(self.machine.guards)
        if done == 0:
            return True
        if self.holds:
            return done < FEW + self.trains + (self.guards > before)
        if self.trains:
            costly = self.steps - self.machine.steps > COSTLY_LOOP
            return done < (min(self.rehearsal.horizon.rounds, self.rehearsal.needed) if costly else self.rehearsal.horizon.rounds)
        if self.length is None or self.length > KNOWN_CONTENT or (self.forwards and self.length > LISTED):
            return done < (self.rehearsal.horizon.rounds if self.counted else FEW)
        return self.steps - self.machine.steps < CHEAP_LOOP or done < FEW


class Rehearsal:
    """The loops of one run."""

    def __init__(self, horizon: Horizon) -> None:
        self.horizon = horizon
        #: The largest modulus of a counter that can be rehearsed as it is.
        self.window = 0
        #: Whether a backward or a step happened.
        self.trained = False
        self._plans: dict[int, Plan] = {}

    @property
    def needed(self) -> int:
        """Rounds that show two windows and a tail of the largest one, or at least some."""
        return 2 * self.window + 3 if self.window else SOME

    def plan(self, machine: Machine, _span: Span, length: int | None) -> Plan:
        """The plan of the loop that has just got its number."""
        plan = Plan(self, machine, length, machine.steps)
        self._plans[machine.next_loop] = plan
        return plan

    def saw(self, machine: Machine, kind: Kind) -> None:
        """An event happened: it tells the loops around it apart."""
        if kind is Kind.FORWARD and machine.stamp and machine.stamp[-1][0] in self._plans:
            self._plans[machine.stamp[-1][0]].forwards = True
        if kind not in _TRAINING:
            return
        self.trained = True
        inside = False
        for number, _ in reversed(machine.stamp):
            plan = self._plans.get(number)
            if plan is None:
                continue
            plan.holds, plan.trains = plan.holds or inside, plan.trains or not inside
            inside = inside or plan.length is None or plan.length > LISTED

    def modulo(self, machine: Machine, left: Value, right: Value, _span: Span) -> Value:
        """The remainder of a loop's counter, or ``MISSING`` where Python's own is right."""
        unknown = isinstance(left, Symbol)
        if unknown and machine.stamp and is_counted(machine, left):
            left = count_of(machine, left)
        if not machine.stamp or not isinstance(left, int) or isinstance(left, bool):
            return MISSING
        rounds = FEW if self._holds(machine) else self.horizon.rounds
        shrunk = min(SHRUNK_WINDOW, rounds)
        if rounds > FEW and not (isinstance(right, int) and 1 < right <= LARGEST_WINDOW):
            self.window = max(self.window, shrunk)
        if not isinstance(right, int):
            return left % shrunk
        if 1 < right <= LARGEST_WINDOW:
            self.window = max(self.window, right if rounds > FEW else 0)
            right = min(right, rounds)
            return left % right if unknown or right == rounds else MISSING
        return left % shrunk if 0 <= left < right else MISSING

    def rounds_of(self, machine: Machine) -> int | None:
        """How often the innermost loop goes round that runs, if it trains and nothing says how long it is."""
        plan = self._plans.get(machine.stamp[-1][0]) if machine.stamp else None
        return self.horizon.rounds if plan is not None and plan.trains and not plan.holds and plan.length is None else None

    def _holds(self, machine: Machine) -> bool:
        """Whether the innermost loop is one around a loop that trains: it goes round a few times only."""
        plan = self._plans.get(machine.stamp[-1][0])
        return plan is not None and plan.holds

    def threshold(self, machine: Machine, left: Value, right: Value, span: Span) -> tuple[Value, Value]:
        """A counter and a distant number become the counter and a near one where a branch depends on it: both sides are rehearsed.

        Conditions of loops, and of branches that leave the loop, stay what they are; where only some ranks come to such a
        branch, or to one that takes a note for whoever leaves later, it is left open whether they leave.
        """
        guards = _branch(machine, span)
        if guards is None or (guards and machine.guards):
            few = machine.guards and span.path in machine.snapshot.contents and 0 <= left <= FEW < right
            return left, Symbol("a number that is counted to", span, machine.stamp) if few else right
        if 0 <= left <= self._reach < right:
            self._count(machine)
            return left, NEAR
        if 0 <= right <= self._reach < left:
            return NEAR, right
        return left, right

    def _count(self, machine: Machine) -> None:
        plan = self._plans.get(machine.stamp[-1][0])
        if plan is not None:
            plan.counted = True

    @property
    def _reach(self) -> int:
        """The largest number that a counter comes to in a few epochs."""
        return 3 * self.horizon.rounds


def _branch(machine: Machine, span: Span) -> bool | None:
    """Whether the branch that a comparison decides only notes that something is so; None: it leaves, or is no branch."""
    source = machine.snapshot.source(span.path) if span.path in machine.snapshot.contents else None
    return _branch_comparisons(source).get((span.start, span.end)) if isinstance(source, SourceFile) else None


@lru_cache(maxsize=256)
def _branch_comparisons(source: SourceFile) -> dict[tuple[int, int], bool]:
    """Comparisons by size in conditions of branches that go on, by their bytes, and whether those branches only note something."""
    found: dict[tuple[int, int], bool] = {}
    for node in walk(source.tree):
        if isinstance(node, ast.If) and not any(isinstance(each, (ast.Break, ast.Return, ast.Raise)) for each in (*node.body, *node.orelse)):
            for part in walk(node.test):
                if isinstance(part, ast.Compare):
                    span = source.span(part)
                    found[span.start, span.end] = notes(node.body)
    return found
