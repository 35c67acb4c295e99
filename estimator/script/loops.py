"""How often a loop runs on the tape: two optimizer steps tell all, evaluation needs two batches, building a model needs every layer."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from analysis.interpreter.signals import BudgetSpent, StopRun
from analysis.interpreter.values import Instance
from analysis.source import SourceFile
from analysis.syntax import walk
from estimator.script.growth import Sizes, grow, mark_cut_short, sizes_in
from estimator.tape.attributes import is_module
from estimator.tape.events import Phase
from estimator.tape.run import Tape

if TYPE_CHECKING:
    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine

#: The peak of the second iteration is the steady one: optimizer state is there from the first step on.
STEPS = 2
#: Micro-batches run before a step, and one more where their number is odd: longer windows hold no more memory, but which of two blocks a batch
#: finds free changes from one to the next.
MICRO_BATCHES = 2
#: Windows of accumulation counted with ``%`` are shortened to this many micro-batches.
WINDOW = 4
#: Rounds of a loop of known length that calls a model and runs no backward: what unrolls a sequence is shorter.
GRAPH_ROUNDS = 512
#: Rounds of a loop in which nothing of interest happens, where the source does not bound it: what it gathers fills a few large batches.
IDLE_ROUNDS = 1024
#: Rounds after which such a loop has to be quick: what it gathers fills a batch.
SLOW_ROUNDS = 256
#: Steps of the interpreter that a loop may take without a model in it; whatever it computes by then, nobody waits for the rest.
IDLE_STEPS = 150_000
#: The same of a loop in which no tensor is made either.
DATA_STEPS = 60_000
#: Items of a container that a loop goes through to the end where each takes no more than so many steps: layers and parameters of the largest models.
MOST_ITEMS = 1 << 14
ITEM_STEPS = 16
#: The same of a loop whose length is not known: one that waits, watches or reads on for as long as the program runs.
UNBOUNDED_STEPS = 30_000
#: Steps of such a loop in all, where no tensor is made in it and it has gone round ``SLOW_ROUNDS`` times.
UNBOUNDED_DATA_STEPS = 6_000
#: Steps that are left to a run whose peak cannot be told any more: what they show of its configuration is worth seeing.
AFTER_LOSS = 25_000
#: Steps that are left to a run, of ``BUDGET``, below which no loop goes round any more where no model was called and no optimizer made until then.
PREPARED = 300_000
#: Backward passes without a single step after which the run is seen as accumulating without end.
MAX_BACKWARDS = 64


class Plan:
    """The plan of one loop of the repository, by what happened in it so far.

    ``shortened``: where its length is known and no step is taken in its body, it accumulates a window; this is called when that is cut short.
    """

    __slots__ = ("backwards", "budget", "calls", "events", "frame", "length", "machine", "shortened", "sizes", "steps", "tape")

    def __init__(self, machine: Machine, tape: Tape, length: int | None, shortened: Callable[[], None] | None) -> None:
        self.machine = machine
        self.shortened = shortened
        self.budget = machine.steps
        self.tape = tape
        self.length = length
        self.calls, self.backwards, self.steps, self.events = tape.calls, tape.backwards, tape.steps, len(tape.events)
        self.frame = machine.frame
        self.sizes: Sizes = {}

    def another(self, done: int) -> bool:
        """Whether to run one more iteration after ``done``."""
        seen = self.tape
        if seen.rounds >= STEPS or seen.backwards >= MAX_BACKWARDS:
            raise StopRun
        if done == 0 or (seen.depth and self.length is not None):
            return True
        if seen.depth:
            return self.budget - self.machine.steps < IDLE_STEPS
        if seen.backwards > self.backwards:
            if self.shortened is None or seen.steps != self.steps or done < MICRO_BATCHES + (self.length or 0) % MICRO_BATCHES:
                return True
            self.shortened()
            return False
        if seen.calls > self.calls:
            return self._another_without_backward(done)
        if self.machine.steps < PREPARED and not (seen.calls or seen.backwards or seen.optimizers):
            raise BudgetSpent
        spent, without = self.budget - self.machine.steps, len(seen.events) == self.events
        if self.length is not None:
            return spent < max(DATA_STEPS if without else IDLE_STEPS, min(self.length, MOST_ITEMS) * ITEM_STEPS)
        return done < IDLE_ROUNDS and spent < (UNBOUNDED_DATA_STEPS if without and done >= SLOW_ROUNDS else UNBOUNDED_STEPS)

    def _another_without_backward(self, done: int) -> bool:
        """A loop that calls a model: with gradients its graph grows from round to round, without them what its variables hold may."""
        counted = self.length is not None or _is_of_model(self.frame)
        if counted and self.tape.grad_enabled and self.tape.phase is not Phase.BACKWARD:
            return done < GRAPH_ROUNDS and self.budget - self.machine.steps < IDLE_STEPS
        if self.frame is not None and done == STEPS - 1:
            self.sizes = sizes_in(self.frame)
        if self.frame is not None and done == STEPS:
            if self.length is None:
                mark_cut_short(self.frame, self.sizes)
            elif self.length > done and not self.tape.grad_enabled:
                return grow(self.frame, self.sizes, self.length - done - 1)  # and one round more: the last one is the largest
        return done < STEPS


def _is_of_model(frame: Frame | None) -> bool:
    """Whether a method of a model runs, called by another name than the model's own: it goes over the model's parts."""
    receiver = None if frame is None or frame.function is None else next(iter(frame.vars.values()), None)
    return isinstance(receiver, Instance) and is_module(receiver)


class LibraryPlan:
    """The plan of a loop in a library's source: as often as it is written, until the run has told all."""

    __slots__ = ("tape",)

    def __init__(self, tape: Tape) -> None:
        self.tape = tape

    def another(self, _done: int) -> bool:
        """Whether to run one more iteration."""
        if self.tape.rounds >= STEPS:
            raise StopRun
        return True


def steps_inside(source: SourceFile, start: int) -> bool:
    """Whether the loop whose iterable begins at byte ``start`` takes a step in its body, as far as its own text tells."""
    return start in _stepping_loops(source)


@lru_cache(maxsize=64)
def _stepping_loops(source: SourceFile) -> frozenset[int]:
    loops = (node for node in walk(source.tree) if isinstance(node, (ast.For, ast.AsyncFor)))
    return frozenset(source.span(loop.iter).start for loop in loops if any(_steps(node) for each in loop.body for node in walk(each)))


def _steps(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return "step" in name
        case ast.Call(func=ast.Name(id=name)):
            return "step" in name or "train" in name
    return False
