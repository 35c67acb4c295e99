"""Generators: a suspended activation is a greenlet, so that ``next``, ``send`` and ``for`` resume it wherever it stands.

While a generator runs its events stand where its consumer is, and its own loops leave no nodes there.
"""

from __future__ import annotations

import ast
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from greenlet import getcurrent, greenlet

from analysis.interpreter.signals import GuestRaise
from analysis.interpreter.values import HostFunction, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine


class Generator:
    """A generator object of guest code: a host iterator over what it yields."""

    __slots__ = ("__weakref__", "frame", "greenlet", "inside", "levels", "machine", "node", "result", "running")

    def __init__(self, machine: Machine, frame: Frame, node: Any) -> None:
        self.machine = machine
        self.frame = frame
        self.node = node
        self.greenlet: greenlet | None = greenlet(self._run)
        self.greenlet.gr_context = copy_context()  # a greenlet begins without context variables; domains use them
        self.running = False
        #: How many of its loops and the like are open: as many levels of the tree it closes later.
        self.levels = 1
        #: What enters and leaves the context manager that its function is decorated with: at every resumption.
        self.inside: tuple[Callable[[], Value], Callable[[], Value]] | None = None
        self.result: Value = None
        frame.generator = self

    def __iter__(self) -> Generator:
        return self

    def __next__(self) -> Value:
        return self.resume(None)

    def resume(self, sent: Value) -> Value:
        """Run to the next yield; raises ``StopIteration`` at the end."""
        machine = self.machine
        if self.greenlet is None or self.greenlet.dead or self.running:
            raise StopIteration
        before = (machine.frame, machine.path, machine.depth, machine.try_depth, machine.tree.flat, machine.tree.stack, machine.stamp, machine.span)
        guards = machine.guards
        machine.frame, machine.tree.flat, machine.tree.stack = self.frame, True, [machine.tree.stack[-1]] * self.levels
        self.greenlet.parent = getcurrent()
        self.running = True
        if self.inside is not None:
            self.inside[0]()
        outcome = self.greenlet.switch(sent)
        if self.inside is not None:
            self.inside[1]()
        self.running = False
        self.levels = len(machine.tree.stack)
        machine.frame, machine.path, machine.depth, machine.try_depth, machine.tree.flat, machine.tree.stack, machine.stamp, machine.span = before
        machine.guards = guards
        kind, value = outcome
        if kind == "yield":
            return value
        self.greenlet = None
        if kind == "raise":
            raise value
        self.result = value
        raise StopIteration

    def close(self) -> None:
        """Forget the suspended activation."""
        self.greenlet = None

    def attribute(self, name: str) -> Value:
        """``send``, ``close`` and the like."""
        match name:
            case "__next__":
                return HostFunction(name, lambda _call: self.resume(None))
            case "send":
                return HostFunction(name, lambda call: self.resume(call.args[0]))
            case "close":
                return HostFunction(name, lambda _call: self.close())
        return HostFunction(name, lambda _call: None)

    def _run(self, _sent: Value) -> tuple[str, Value]:
        try:
            left = self.machine.execute(self.node.body, self.frame)
        except BaseException as error:
            if type(error).__name__ == "GreenletExit":
                raise
            return "raise", error
        self.frame.vars.clear()
        return "return", left.value if left is not None else None


def run_yield(machine: Machine, node: ast.Yield, frame: Frame) -> Value:
    """A yield expression: its value is what is sent."""
    return hand_over(machine, None if node.value is None else machine.evaluate(node.value, frame), frame)


def run_yield_from(machine: Machine, node: ast.YieldFrom, frame: Frame) -> Value:
    """``yield from``: every item of another iterable."""
    source = machine.evaluate(node.value, frame)
    for item in machine.iterate(source, frame.file.span(node)):
        hand_over(machine, item, frame)
    return source.result if isinstance(source, Generator) else None


def hand_over(machine: Machine, value: Value, frame: Frame) -> Value:
    """Suspend here with ``value``; comes back with what is sent."""
    current = getcurrent()
    if current.parent is None or frame.generator is None:
        return None
    stamp = machine.stamp
    sent = current.parent.switch(("yield", value))
    machine.frame, machine.stamp = frame, stamp
    return sent


class Manager:
    """A context manager made of a generator: ``contextlib.contextmanager``. As a decorator it is made anew for each call."""

    __slots__ = ("anew", "generator")

    def __init__(self, generator: Value, anew: Callable[[], Manager]) -> None:
        self.generator = generator
        self.anew = anew

    def enter(self, _machine: Machine) -> Value:
        """Run to the yield."""
        return next(self.generator, None)

    def leave(self, _machine: Machine, error: Value) -> Value:
        """Run from the yield to the end. After an exception only what ``finally`` would do is not known: it is run on."""
        try:
            next(self.generator)
        except (StopIteration, GuestRaise):
            return None
        return error is None
