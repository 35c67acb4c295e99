"""``try`` and ``raise``. Handlers run only for an exception that the code was seen to raise."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from analysis.interpreter.frames import Exit
from analysis.interpreter.signals import GuestRaise
from analysis.interpreter.values import Class, External, Function, Instance, Symbol, Value
from analysis.trace.tree import Leave

if TYPE_CHECKING:
    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine
    from analysis.source import Span


#: Exceptions that end a program, a loop or a generator on purpose.
_DELIBERATE = frozenset({"SystemExit", "KeyboardInterrupt", "StopIteration", "StopAsyncIteration", "GeneratorExit", "IndexError"})
#: The call that a run begins with ends as it ends.
_OUTERMOST = 2


def _exception_classes() -> dict[str, Class]:
    made: dict[str, Class] = {}
    kinds = [value for value in vars(builtins).values() if isinstance(value, type) and issubclass(value, BaseException)]
    for kind in sorted(kinds, key=lambda each: len(each.__mro__)):
        base = made.get(kind.__mro__[1].__name__)
        made[kind.__name__] = Class(kind.__name__, f"builtins.{kind.__name__}", (base,) if base is not None else (), {})
    return made


#: Python's own exceptions as guest classes.
EXCEPTIONS = _exception_classes()


def guest_error(error: Exception, span: Span) -> GuestRaise:
    """A host exception as the guest would see it."""
    cls = next((EXCEPTIONS[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in EXCEPTIONS), EXCEPTIONS["Exception"])
    value = Instance(cls, span)
    value.fields["args"] = (str(error),)
    return GuestRaise(value, span)


def run_raise(machine: Machine, node: ast.Raise, frame: Frame) -> Exit | None:
    """A raise statement."""
    span = frame.file.span(node)
    value = machine.state.get("handled") if node.exc is None else machine.evaluate(node.exc, frame)
    if isinstance(value, Class):
        value = machine.construct(value, [], {}, span)
    raise GuestRaise(value, span)


def survivable(machine: Machine, function: Function, error: GuestRaise) -> bool:
    """Whether nobody catches the exception, so that the program would end here, and it does not mean to.

    Special methods raise as part of a protocol: ``__next__`` at the end, ``__getattr__`` where there is nothing.
    """
    if machine.depth < _OUTERMOST or (function.name.startswith("__") and function.name != "__init__"):
        return False
    return dead_end(machine, error)


def dead_end(machine: Machine, error: GuestRaise) -> bool:
    """Whether nobody catches the exception, and it is none by which programs end on purpose."""
    if not machine.survives_raises or machine.try_depth or machine.fork_depth:
        return False
    kinds = error.value.cls.mro if isinstance(error.value, Instance) else ()
    return not any(cls.name in _DELIBERATE for cls in kinds)


def survived(machine: Machine, error: GuestRaise, span: Span) -> Value:
    """What a call gives that cannot have ended the program."""
    machine.note(error.span or span, "an exception here would end the program: what is computed from here on in this call is not known")
    return Symbol("what a call gives that was not followed to its end", span, machine.stamp)


def run_try(machine: Machine, node: ast.Try, frame: Frame) -> Exit | None:
    """A try statement. ``finally`` runs on every way out."""
    catches = not all(_gives_up(handler) for handler in node.handlers)  # else the guest did not expect a failure
    machine.try_depth += catches
    before = (machine.frame, machine.path, machine.depth, machine.stamp, list(machine.tree.stack))
    try:
        left = machine.execute(node.body, frame)
    except GuestRaise as error:
        machine.try_depth -= catches
        machine.frame, machine.path, machine.depth, machine.stamp, machine.tree.stack = *before[:4], before[4]
        return _handle(machine, node, frame, error)
    machine.try_depth -= catches
    if left is None and node.orelse:
        left = machine.execute(node.orelse, frame)
    return _finally(machine, node, frame, left)


def _gives_up(handler: ast.ExceptHandler) -> bool:
    """Whether it ends the program, or passes the exception on: whoever wrote it had nothing else to do."""
    match handler.body[-1]:
        case ast.Raise(exc=None):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="exit" | "quit") | ast.Attribute(attr="exit" | "_exit"))):
            return True
    return isinstance(handler.type, ast.Name) and handler.type.id == "KeyboardInterrupt"


def _handle(machine: Machine, node: ast.Try, frame: Frame, error: GuestRaise) -> Exit | None:
    for handler in node.handlers:
        if handler.type is not None and not matches(machine.evaluate(handler.type, frame), error.value):
            continue
        if handler.name is not None:
            machine.assign(ast.copy_location(ast.Name(handler.name, ast.Store()), handler), error.value, frame)
        outer, machine.state["handled"] = machine.state.get("handled"), error.value
        try:
            left = machine.execute(handler.body, frame)
        except GuestRaise:
            machine.state["handled"] = outer
            _finally(machine, node, frame, None)
            raise
        machine.state["handled"] = outer
        return _finally(machine, node, frame, left)
    left = _finally(machine, node, frame, None)
    if left is not None:
        return left
    machine.tree.add(Leave("raise"))
    raise error


def _finally(machine: Machine, node: ast.Try, frame: Frame, left: Exit | None) -> Exit | None:
    if not node.finalbody:
        return left
    return machine.execute(node.finalbody, frame) or left


def matches(kind: Value, raised: Value) -> bool:
    """Whether an ``except`` clause for ``kind`` catches ``raised``; what is unknown may."""
    if isinstance(kind, tuple):
        return any(matches(each, raised) for each in kind)
    if isinstance(kind, Class):
        if not isinstance(raised, Instance):
            return kind.name in {"Exception", "BaseException"}
        return any(cls is kind or cls.dotted == kind.dotted for cls in raised.cls.mro) or kind.name in {"Exception", "BaseException"}
    return isinstance(kind, (External, Symbol)) and isinstance(raised, (External, Symbol))
