"""Both sides of an undecided condition: run from the same state, then joined.

Sides that fall through are joined at once. A side that leaves (break, continue, return) keeps its writes until
the loop or call that catches it is over; a side that raises is taken not to happen unless all do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from analysis.interpreter.frames import Exit
from analysis.interpreter.heap import Delta
from analysis.interpreter.joins import join
from analysis.interpreter.values import GuestRaise, Value
from analysis.trace.tree import Alt, Leave

if TYPE_CHECKING:
    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine
    from analysis.source import Span

Arm = Callable[[], Exit | None]


def fork(machine: Machine, span: Span, arms: Sequence[Arm], frame: Frame) -> Exit | None:
    """Run every arm from here; returns how the statement as a whole leaves (None: it goes on)."""
    alt = Alt(span)
    machine.tree.add(alt)
    outcomes: list[tuple[Exit | None, Delta]] = []
    raised: GuestRaise | None = None
    guards = machine.state.get("guards", ())
    machine.state["guards"] = (*guards, span)
    for arm in arms:
        mark = machine.heap.begin()
        machine.tree.begin_arm(alt)
        try:
            left = arm()
        except GuestRaise as error:
            raised = error
            machine.tree.add(Leave("raise"))
            machine.tree.end()
            machine.heap.take(mark)
            continue
        machine.tree.end()
        outcomes.append((left, machine.heap.take(mark)))
    # Where one side left, what follows is reached by the others alone: the condition guards it until the loop or call ends.
    one_side_left = raised is not None or any(left is not None for left, _ in outcomes)
    machine.state["guards"] = (*guards, span) if one_side_left else guards
    if not outcomes:
        if raised is None:
            return None
        raise raised
    return _settle(machine, outcomes, frame)


def _settle(machine: Machine, outcomes: list[tuple[Exit | None, Delta]], frame: Frame) -> Exit | None:
    going_on = [delta for left, delta in outcomes if left is None]
    leaving = [(left, delta) for left, delta in outcomes if left is not None]
    if going_on:
        machine.heap.merge(going_on)
        frame.pending.extend(leaving)
        return None
    last, _ = leaving[-1]
    alike = [(left, delta) for left, delta in leaving if left.kind == last.kind]
    frame.pending.extend((left, delta) for left, delta in leaving if left.kind != last.kind)
    machine.heap.merge([delta for _, delta in alike])
    value = alike[0][0].value
    for left, _ in alike[1:]:
        value = join(value, left.value)
    return Exit(last.kind, value)


def rejoin(machine: Machine, frame: Frame, kinds: tuple[str, ...], since: int) -> list[Exit]:
    """Join the writes of the pending exits of these kinds (those after the first ``since``) into the state here."""
    caught = [(left, delta) for left, delta in frame.pending[since:] if left.kind in kinds]
    if caught:
        frame.pending[since:] = [(left, delta) for left, delta in frame.pending[since:] if left.kind not in kinds]
        for _, delta in caught:
            machine.heap.merge([Delta(), delta])
    return [left for left, _ in caught]


def choose(machine: Machine, span: Span, options: Sequence[Callable[[], Value]], frame: Frame) -> Value:
    """The joined value of expressions of which any may be evaluated."""
    values: list[Value] = []

    def arm(option: Callable[[], Value]) -> Arm:
        def run() -> None:
            values.append(option())

        return run

    fork(machine, span, [arm(option) for option in options], frame)
    if not values:
        return None
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result
