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
from analysis.interpreter.ranks import Ranks
from analysis.interpreter.returns import either
from analysis.interpreter.signals import GuestRaise
from analysis.interpreter.values import Value
from analysis.trace.tree import Alt, Leave

if TYPE_CHECKING:
    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine
    from analysis.source import Span

Arm = Callable[[], Exit | None]


def fork(machine: Machine, span: Span, arms: Sequence[Arm], frame: Frame, *, first: bool = True, of_receivers: bool = False) -> Exit | None:
    """Run every arm from here; returns how the statement as a whole leaves (None: it goes on). ``first``: the answer that leads to the first arm."""
    alt = Alt(span, of_receivers=of_receivers)
    machine.tree.add(alt)
    outcomes: list[tuple[Exit | None, Delta]] = []
    raised: GuestRaise | None = None
    ranks = Ranks(machine, span, frame)
    for index, arm in enumerate(arms):
        mark = machine.heap.begin()
        machine.tree.begin_arm(alt)
        machine.fork_depth += 1
        level, stamp = len(machine.tree.stack), machine.stamp
        ranks.begin(holds=(index == 0) == first)
        try:
            left = arm()
            ranks.left_by(left)
        except GuestRaise as error:
            raised = error
            del machine.tree.stack[level:]
            machine.stamp = stamp
            machine.tree.add(Leave("raise"))
            machine.tree.end()
            machine.heap.take(mark)
            continue
        finally:
            ranks.end()
            machine.fork_depth -= 1
        machine.tree.end()
        outcomes.append((left, machine.heap.take(mark)))
    if not outcomes:
        if raised is None:
            return None
        raise raised
    ranks.close()
    return _settle(machine, outcomes, frame, divided=ranks.division is not None)


def _settle(machine: Machine, outcomes: list[tuple[Exit | None, Delta]], frame: Frame, *, divided: bool) -> Exit | None:
    going_on = [delta for left, delta in outcomes if left is None]
    leaving = [(left, delta) for left, delta in outcomes if left is not None]
    if going_on:
        machine.heap.merge(going_on, divided=divided)
        frame.pending.extend(leaving)
        return None
    last, _ = leaving[-1]
    alike = [(left, delta) for left, delta in leaving if left.kind == last.kind]
    frame.pending.extend((left, delta) for left, delta in leaving if left.kind != last.kind)
    machine.heap.merge([delta for _, delta in alike], divided=divided)
    value = alike[-1][0].value
    for left, _ in alike[-2::-1]:
        value = either(machine, left, value, machine.span)
    return Exit(last.kind, value)


def rejoin(machine: Machine, frame: Frame, kinds: tuple[str, ...], since: int) -> list[Exit]:
    """Join the writes of the pending exits of these kinds (those after the first ``since``) into the state here."""
    caught = [(left, delta) for left, delta in frame.pending[since:] if left.kind in kinds]
    if caught:
        frame.pending[since:] = [(left, delta) for left, delta in frame.pending[since:] if left.kind not in kinds]
        for _, delta in caught:
            machine.heap.merge([Delta(), delta])
    return [left for left, _ in caught]


def choose(machine: Machine, span: Span, options: Sequence[Callable[[], Value]], frame: Frame, *, first: bool = True, of_receivers: bool = False) -> Value:
    """The joined value of expressions of which any may be evaluated. ``of_receivers``: of one method, on different objects."""
    values: list[Value] = []

    def arm(option: Callable[[], Value]) -> Arm:
        def run() -> None:
            values.append(option())

        return run

    divided = span in machine.divisions
    fork(machine, span, [arm(option) for option in options], frame, first=first, of_receivers=of_receivers)
    if not values:
        return None
    result = values[0]
    for value in values[1:]:
        result = join(result, value, divided=divided)
    return result
