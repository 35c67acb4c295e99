"""How often a loop runs on the tape: two optimizer steps tell all, evaluation needs two batches, building a model needs every layer."""

from __future__ import annotations

from analysis.interpreter.values import StopRun
from estimator.tape.run import Tape

#: The peak of the second iteration is the steady one: optimizer state is there from the first step on.
STEPS = 2
#: Micro-batches run before a step that may never come: longer windows hold no more memory.
MICRO_BATCHES = 3
#: Rounds of a loop in which nothing of interest happens, where the source does not bound it.
IDLE_ROUNDS = 4096
#: Backward passes without a single step after which the run is seen as accumulating without end.
MAX_BACKWARDS = 64


class Plan:
    """The plan of one loop, by what happened in it so far."""

    __slots__ = ("backwards", "calls", "length", "steps", "tape")

    def __init__(self, tape: Tape, length: int | None) -> None:
        self.tape = tape
        self.length = length
        self.calls, self.backwards, self.steps = tape.calls, tape.backwards, tape.steps

    def another(self, done: int) -> bool:
        """Whether to run one more iteration after ``done``."""
        seen = self.tape
        if seen.steps >= STEPS or seen.backwards >= MAX_BACKWARDS:
            raise StopRun
        if done == 0 or seen.depth:
            return True
        if seen.backwards > self.backwards:
            counted = self.length is not None and seen.steps == self.steps
            return not (counted and done >= MICRO_BATCHES)
        if seen.calls > self.calls:
            return done < STEPS
        return self.length is not None or done < IDLE_ROUNDS
