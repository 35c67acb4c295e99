"""Loops run concretely, as often as the domain's plan allows."""

from __future__ import annotations

import ast
from collections.abc import MappingView
from operator import length_hint
from typing import TYPE_CHECKING

from analysis.interpreter import branches, ranks
from analysis.interpreter.counting import rounds_of
from analysis.interpreter.frames import Exit
from analysis.interpreter.iteration import ListItems
from analysis.interpreter.values import FewItems, HostFunction, Instance, Symbol, Value

if TYPE_CHECKING:
    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine
    from analysis.source import Span
    from analysis.trace.tree import Loop


class Running:
    """One activation of a loop: its node in the tree, its number and where it stands."""

    __slots__ = ("before", "done", "guards", "machine", "node", "number", "pending", "plan")

    def __init__(self, machine: Machine, span: Span, length: int | None, pending: int) -> None:
        machine.next_loop += 1
        self.machine = machine
        self.number = machine.next_loop
        self.before = machine.stamp
        self.done = 0
        self.pending = pending
        self.guards = len(machine.guards)
        self.plan = machine.domain.plan_loop(machine, span, length)
        self.node: Loop = machine.tree.begin_loop(span, self.number)

    def next(self) -> bool:
        """Begin the next iteration if the plan allows it; only to be called when there is one."""
        if not self.plan.another(self.done):
            self.node.complete = False
            self.machine.stamp = self.before
            return False
        self.machine.stamp = (*self.before, (self.number, self.done))
        return True

    def iteration(self, body: list[ast.stmt], frame: Frame) -> Exit | None:
        """Run the body once."""
        self.machine.tree.begin_iteration(self.node)
        left = self.machine.execute(body, frame)
        branches.rejoin(self.machine, frame, ("continue",), self.pending)
        if len(self.machine.guards) > self.guards:
            self.machine.guards = ranks.dropped(self.machine.guards, self.guards, "continue")
        self.machine.tree.end()
        self.done += 1
        return left

    def over(self, frame: Frame) -> None:
        """The loop has ended: whoever broke out of it comes back here."""
        self.machine.stamp = self.before
        self.machine.guards = ranks.dropped(self.machine.guards, self.guards, "continue", "break")
        branches.rejoin(self.machine, frame, ("break",), self.pending)


def run_for(machine: Machine, node: ast.For | ast.AsyncFor, frame: Frame) -> Exit | None:
    """A for loop."""
    span = frame.file.span(node.iter)
    source = machine.evaluate(node.iter, frame)
    iterator = machine.iterate(source, span)
    running = Running(machine, span, length_of(machine, source, span), len(frame.pending))
    running.node.stop = rounds_of(source)
    del source
    while True:
        if running.done and not running.next():
            break
        item = next(iterator, _END)
        if item is _END:
            running.over(frame)
            return machine.execute(node.orelse, frame) if node.orelse else None
        if not running.done and not running.next():
            break
        machine.assign(node.target, item, frame)
        item = None  # the loop variable alone holds the item from here on, as in CPython
        left = running.iteration(node.body, frame)
        if left is not None and left.kind != "continue":
            running.over(frame)
            return None if left.kind == "break" else left
    close = getattr(iterator, "close", None)
    if close is not None:
        close()
    running.over(frame)
    return None


_END = object()


def length_of(machine: Machine, source: Value, span: Span) -> int | None:
    """The number of items, where it costs nothing to know."""
    if isinstance(source, (list, tuple, dict, set, range, str, MappingView)) and not isinstance(source, FewItems):
        return len(source)
    if isinstance(source, ListItems):
        return length_hint(source)
    counted = source.cls.find("__len__") if isinstance(source, Instance) else None
    length = machine.call(counted, [source], {}, span) if isinstance(counted, HostFunction) else None
    return length if isinstance(length, int) else None


def run_while(machine: Machine, node: ast.While, frame: Frame) -> Exit | None:
    """A while loop: an undecided condition is taken to hold as long as the plan allows."""
    span = frame.file.span(node.test)
    running = Running(machine, span, None, len(frame.pending))
    flagged = False  # whether the condition was known to hold in the round before
    while True:
        condition = machine.evaluate(node.test, frame)
        decided = None if isinstance(condition, Symbol) else machine.truth(condition, span)
        if decided is False:
            running.over(frame)
            return machine.execute(node.orelse, frame) if node.orelse else None
        if not running.next():
            break
        if running.done == 0 or flagged:
            machine.guards += ranks.differing(machine, condition, span, later=flagged)
        flagged = decided is True
        left = running.iteration(node.body, frame)
        if left is not None and left.kind != "continue":
            running.over(frame)
            return None if left.kind == "break" else left
    running.over(frame)
    return None
