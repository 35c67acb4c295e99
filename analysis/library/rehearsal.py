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
from analysis.library.counters import at_the_end, count_of
from analysis.library.noting import notes
from analysis.library.reporting_windows import only_reports
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
#: A loop that trains runs to its end if it is known to be so short.
WHOLE = 11
#: Steps after which a loop that trains runs no more rounds than its windows ask for: what comes behind it, and in other loops, is to be seen too.
COSTLY_LOOP = 12_000

_TRAINING, _SHRUNK = frozenset({Kind.BACKWARD, Kind.STEP}), "moduli that were shrunk"


@dataclass(frozen=True, slots=True)
class Horizon:
    """``rounds``: how often a loop that trains runs, which is also the number of batches that a loader gives.

    Where nothing is counted a few rounds show all there is: what an iteration leaves for the next, and for the one after that. They
    are more than a list has that is gone through within a step.
    """

    rounds: int = LISTED + 1
    #: The window that it was made for, if one was seen.
    window: int = 0

    @classmethod
    def for_window(cls, window: int) -> Horizon:
        """Two windows and a tail of the largest window that was seen."""
        return cls(max(cls().rounds, 2 * window + 3), window) if window else cls()

    @classmethod
    def in_doubt(cls, window: int) -> Horizon:
        """Where the program was not followed far enough to see whether it has a larger window than this."""
        return cls(max(WHOLE, cls.for_window(window).rounds), window)


#: A run that only collects what is done to arguments.
SHORT = Horizon(FEW)


@dataclass(slots=True)
class Plan:
    """One running loop. ``trains``: a backward or step happened in it; ``holds``: in a loop inside it; ``forwards``: a model ran in it.

    ``suspended``: what had been seen to train when a loop of a generator was asked last: while it is suspended, its consumer trains on what it gives.
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
    suspended: tuple[int, int] | None = None

    def another(self, done: int) -> bool:
        """Whether to run one more iteration after ``done``."""
        if self.suspended is not None:
            self._resume(*self.suspended)
        before, self.guards = self.guards, len(self.machine.guards)
        if done == 0:
            return True
        if self.holds:
            return done < FEW + self.trains + (self.guards > before)
        if self.trains:
            return done < self._rounds
        if self.length is None or self.length > KNOWN_CONTENT or (self.forwards and self.length > LISTED):
            return done < (self.rehearsal.horizon.rounds if self.counted else FEW)
        return self.steps - self.machine.steps < CHEAP_LOOP or done < FEW

    def _resume(self, trainings: int, loops: int) -> None:
        """Trained since it was asked last: by the consumer, or, if a loop inside it has noticed that, by the consumer of that one."""
        rehearsal = self.rehearsal
        if rehearsal.trainings > trainings:
            self.holds = self.holds or rehearsal.consumed > loops
            if not self.holds and not self.trains:
                self.trains = True
            rehearsal.consumed += 1
        self.suspended = rehearsal.trainings, rehearsal.consumed

    @property
    def most(self) -> int:
        """How often a loop goes round that trains, or whose length is not known."""
        if self.holds:
            return FEW + self.trains
        return self._rounds if self.trains else self.rehearsal.horizon.rounds if self.counted else FEW

    @property
    def _rounds(self) -> int:
        """How often a loop that trains goes round."""
        horizon = self.rehearsal.horizon
        if self.steps - self.machine.steps > COSTLY_LOOP:
            return min(horizon.rounds, Horizon.for_window(max(self.rehearsal.window, horizon.window)).rounds)
        is_short = self.length is not None and self.length <= WHOLE and self.length != horizon.rounds  # as long as what has no known length
        return WHOLE if is_short and horizon != SHORT else horizon.rounds


class Rehearsal:
    """The loops of one run."""

    def __init__(self, horizon: Horizon) -> None:
        self.horizon = horizon
        #: The largest window that counters were taken modulo of, by the loops that ran then.
        self._windows: dict[tuple[int, ...], int] = {}
        #: Whether a backward or a step happened.
        self.trained = False
        self.in_loops: set[bool] = set()  # whether backwards and steps happened in loops, outside of them, or both
        #: How many backwards and steps happened, and how often a generator's loop found that some had while it was suspended.
        self.trainings = self.consumed = 0
        self._plans: dict[int, Plan] = {}

    def plan(self, machine: Machine, _span: Span, length: int | None) -> Plan:
        """The plan of the loop that has just got its number."""
        plan = Plan(self, machine, length, machine.steps, suspended=(self.trainings, self.consumed) if machine.tree.flat else None)
        self._plans[machine.next_loop] = plan
        return plan

    def saw(self, machine: Machine, kind: Kind) -> None:
        """An event happened: it tells the loops around it apart."""
        if kind is Kind.FORWARD and machine.stamp and machine.stamp[-1][0] in self._plans:
            self._plans[machine.stamp[-1][0]].forwards = True
        if kind not in _TRAINING:
            return
        self.trained = True
        self.in_loops.add(bool(machine.stamp))
        self.trainings += 1
        inside = False
        for number, _ in reversed(machine.stamp):
            plan = self._plans.get(number)
            if plan is None:
                continue
            plan.holds, plan.trains = plan.holds or inside, plan.trains or not inside
            inside = inside or plan.length is None or plan.length > LISTED

    def modulo(self, machine: Machine, left: Value, right: Value, span: Span) -> Value:
        """The remainder of a loop's counter, or ``MISSING`` where Python's own is right."""
        unknown = isinstance(left, Symbol)
        if unknown and machine.stamp and (count := count_of(machine, left)) is not None:
            left = count
        if not machine.stamp or not isinstance(left, int) or isinstance(left, bool):
            return MISSING
        rounds = FEW if self._holds(machine) else self.horizon.rounds
        reports = _only_reports(machine, span)
        as_it_is = isinstance(right, int) and 1 < right <= LARGEST_WINDOW and (right <= SHRUNK_WINDOW or not reports)
        if not reports:
            self._count(machine, right if as_it_is else SHRUNK_WINDOW)
        shrunk = min(SHRUNK_WINDOW, rounds)
        if not isinstance(right, int):
            return left % shrunk
        if as_it_is:
            right = min(right, rounds)
            return left % right if unknown or right == rounds else MISSING
        machine.state[_SHRUNK] = {*machine.state.get(_SHRUNK, ()), right} - {1}
        return left % shrunk if 0 <= left < right else MISSING

    def at_the_end(self, machine: Machine, condition: Symbol) -> bool | None:
        """What a condition gives that asks whether a loop of unknown length is in its last round, which is the last that is rehearsed.

        The loop is one over a range that is compared with the end of that range, or the innermost if it trains.
        """
        for number, turn in reversed(machine.stamp):
            plan, loop = self._plans.get(number), machine.tree.loops.get(number)
            if plan is not None and loop is not None and plan.length is None and isinstance(loop.stop, Symbol):
                ended = at_the_end(condition, turn, plan.most, loop.stop)
                if ended is not None:
                    loop.near = True
                    return ended
        plan = self._plans.get(machine.stamp[-1][0]) if machine.stamp else None
        is_open = plan is not None and plan.trains and not plan.holds and plan.length is None
        return at_the_end(condition, machine.stamp[-1][1], self.horizon.rounds) if is_open else None

    def _holds(self, machine: Machine) -> bool:
        """Whether the innermost loop is one around a loop that trains: it goes round a few times only."""
        plan = self._plans.get(machine.stamp[-1][0])
        return plan is not None and plan.holds

    def threshold(self, machine: Machine, left: Value, right: Value, span: Span, *, by_size: bool) -> tuple[Value, Value]:
        """A counter and a distant number become the counter and a near one where a branch depends on it: both sides are rehearsed.

        Conditions of loops, and of branches that leave the loop, stay what they are; where only some ranks come to such a
        branch, or to one that takes a note for whoever leaves later, it is left open whether they leave.
        """
        number = max(left, right)
        end = self._brought_near(machine, left, right)
        if end is not None:
            return left, end
        if self.horizon == SHORT and FEW < number <= LARGEST_WINDOW:  # no length of a loop that is not known: those are short here
            self._count(machine, number)
        if not by_size:
            return left, SHRUNK_WINDOW - 1 if right + 1 in machine.state.get(_SHRUNK, ()) else right
        guards = _branch(machine, span)
        if guards is None or (guards and machine.guards):
            few = machine.guards and span.path in machine.snapshot.contents and 0 <= left <= FEW < right
            return left, Symbol("a number that is counted to", span, machine.stamp) if few else right
        if 0 <= left <= self._reach < right:
            self._pass(machine)
            return left, NEAR
        if 0 <= right <= self._reach < left:
            return NEAR, right
        return left, right

    def _brought_near(self, machine: Machine, counter: Value, end: Value) -> int | None:
        """Where a loop that trains, and is cut short, ends in the rehearsal, if its counter is compared with its end."""
        for number, turn in reversed(machine.stamp):
            plan = self._plans.get(number)
            if plan is None or plan.length is None or not (plan.trains or plan.holds) or counter not in {turn, turn + 1}:
                continue
            if end in {plan.length - 1, plan.length} and plan.most < plan.length:
                machine.tree.loops[number].near = True
                return int(end) - plan.length + plan.most
        return None

    @property
    def window(self) -> int:
        """The largest window in a loop that trains (any loop, where none was seen to), and holds no other that does; 0: there was none."""
        return max((window for loops, window in self._windows.items() if any(self._goes_by(number) for number in loops)), default=0)

    def _goes_by(self, number: int) -> bool:
        plan = self._plans.get(number)
        return plan is not None and (plan.trains or not self.trained) and not plan.holds

    def _count(self, machine: Machine, window: int) -> None:
        """A counter is taken modulo ``window`` in the loops that run."""
        loops = tuple(number for number, _ in machine.stamp)
        self._windows[loops] = max(self._windows.get(loops, 0), window)

    def _pass(self, machine: Machine) -> None:
        """What comes after a threshold is to be seen, for three rounds."""
        self._count(machine, NEAR - 1)
        plan = self._plans.get(machine.stamp[-1][0])
        if plan is not None:
            plan.counted = True

    @property
    def _reach(self) -> int:
        """The largest number that a counter comes to in a few epochs."""
        return 3 * max(self.horizon.rounds, WHOLE)


def _only_reports(machine: Machine, span: Span) -> bool:
    source = machine.snapshot.source(span.path) if span.path in machine.snapshot.contents else None
    return isinstance(source, SourceFile) and only_reports(source, span)


def _branch(machine: Machine, span: Span) -> bool | None:
    """Whether the branch that a comparison decides only notes that something is so; None: it leaves, or is no branch."""
    source = machine.snapshot.source(span.path) if span.path in machine.snapshot.contents else None
    return _branch_comparisons(source).get((span.start, span.end)) if isinstance(source, SourceFile) else None


@lru_cache(maxsize=4096)
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
