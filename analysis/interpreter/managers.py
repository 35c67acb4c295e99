"""``with`` statements, functions that run inside a context manager, and ``super()``."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from analysis.interpreter.frames import Exit
from analysis.interpreter.generators import Generator, Manager
from analysis.interpreter.signals import GuestRaise
from analysis.interpreter.values import MISSING, Alternatives, Class, Function, HostValue, Instance, Super, Symbol, Value

if TYPE_CHECKING:
    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine
    from analysis.source import Span


def run_with(machine: Machine, node: ast.With | ast.AsyncWith, frame: Frame) -> Exit | None:
    """A with statement."""
    entered: list[tuple[Value, Span]] = []
    for item in node.items:
        span = frame.file.span(item.context_expr)
        manager = machine.evaluate(item.context_expr, frame)
        value = enter(machine, manager, span)
        entered.append((manager, span))
        if item.optional_vars is not None:
            machine.assign(item.optional_vars, value, frame)
    try:
        left = machine.execute(node.body, frame)
    except GuestRaise as error:
        suppressed = [leave(machine, manager, span, error.value) for manager, span in reversed(entered)]
        if any(value is True for value in suppressed):
            return None
        raise
    for manager, span in reversed(entered):
        leave(machine, manager, span, None)
    return left


def enter(machine: Machine, manager: Value, span: Span) -> Value:
    """``__enter__``."""
    match manager:
        case Manager():
            return manager.enter(machine)
        case Instance() if manager.cls.find("__enter__") is not MISSING:
            return machine.call(machine.getattr(manager, "__enter__", span), [], {}, span)
        case Alternatives(values=values):
            return enter(machine, values[0], span)
        case HostValue():
            return manager.__enter__()  # type: ignore[attr-defined]  # a domain's context manager
        case Symbol():
            return manager.part(".__enter__()")
    return manager


def leave(machine: Machine, manager: Value, span: Span, error: Value) -> Value:
    """``__exit__``; a true answer suppresses the exception."""
    match manager:
        case Manager():
            return manager.leave(machine, error)
        case Instance() if manager.cls.find("__exit__") is not MISSING:
            kind = error.cls if isinstance(error, Instance) else None
            return machine.call(machine.getattr(manager, "__exit__", span), [kind, error, None], {}, span)
        case Alternatives(values=values):
            return leave(machine, values[0], span, error)
        case HostValue():
            return manager.__exit__(None, None, None)  # type: ignore[attr-defined]  # a domain's context manager
    return None


def call_inside(machine: Machine, function: Value, manager: Value, args: list[Value], kwargs: dict[str, Value], span: Span) -> Value:
    """A call of a function decorated with a context manager. A generator runs inside it each time it is resumed."""
    manager = manager.anew() if isinstance(manager, Manager) else manager
    enter(machine, manager, span)
    try:
        value = machine.call(function, args, kwargs, span)
    except GuestRaise as error:
        leave(machine, manager, span, error.value)
        raise
    leave(machine, manager, span, None)
    if isinstance(value, Generator):
        value.inside = partial(enter, machine, manager, span), partial(leave, machine, manager, span, None)
    return value


def super_of(frame: Frame, span: Span) -> Value:
    """``super()`` without arguments."""
    current: Frame | None = frame
    function: Function | None = frame.function
    owner: Class | None = function.defined_in if function is not None else None
    if owner is None or current is None or function is None or isinstance(function.node, ast.Lambda) or not function.node.args.args:
        return Symbol("super()", span)
    first = function.node.args.args[0].arg
    receiver = current.cells[first].get("value") if first in current.cells else current.vars.get(first)
    return Super(owner, receiver)
