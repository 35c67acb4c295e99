"""Where statements stand to each other, for fixes that move or add one. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analysis.interpreter.values import Instance, Value
from analysis.snapshot import Snapshot
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.reading import around, call_at, dotted, span_of


def behind_dispatch(snapshot: Snapshot, call: Span, place: Span) -> Span:
    """Where a finding stands that a ``call`` leads to: at the call, or, if that only says that something happens, at the place.

    ``self.fire("step")`` and ``for hook in hooks: hook.before_step()`` do not say what is done.
    """
    at, stands = call_at(snapshot, call), around(snapshot, call)
    match at:
        case ast.Call(func=ast.Attribute(), args=[_, *_] as given, keywords=[]) if all(isinstance(getattr(each, "value", None), str) for each in given):
            return place
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=[] | [ast.Name(id="self")], keywords=[]) if stands is not None:
            loops = (each.target for each in stands.statements if isinstance(each, ast.For))
            return place if any(isinstance(each, ast.Name) and each.id == name for each in loops) else call
    return call


def siblings(snapshot: Snapshot, one: Span, other: Span) -> tuple[Span, Span] | None:
    """The statements around two positions that stand in one block of one function; None if there are no such two."""
    left, right = around(snapshot, one), around(snapshot, other)
    if left is None or right is None or one.path != other.path or left.function is not right.function:
        return None
    for depth, (a, b) in enumerate(zip(left.statements, right.statements, strict=False)):
        if a is b:
            continue
        if depth and not any(a in block and b in block for block in _blocks(left.statements[depth - 1])):
            return None
        first, second = span_of(snapshot, one.path, a), span_of(snapshot, one.path, b)
        return (first, second) if first is not None and second is not None else None
    return None


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for handler in getattr(statement, "handlers", ()):
        yield handler.body


def is_alone(snapshot: Snapshot, span: Span) -> bool:
    """Whether the expression at ``span`` is a statement of its own, so that nothing uses its value."""
    stands = around(snapshot, span)
    return stands is not None and isinstance(stands.statement, ast.Expr) and span_of(snapshot, span.path, stands.statement.value) == span


def step_names(trace: Trace, step: Event) -> tuple[str, str] | None:
    """``scaler`` and ``optimizer`` of ``scaler.step(optimizer)``, if both are plain dotted names."""
    call = call_at(trace.snapshot, step.span)
    match call:
        case ast.Call(func=ast.Attribute(value=scaler, attr="step"), args=[optimizer, *_]):
            names = dotted(scaler), dotted(optimizer)
            return (names[0], names[1]) if names[0] is not None and names[1] is not None else None
        case _:
            return None


def scale_name(trace: Trace, backward: Event) -> str | None:
    """``scaler`` of ``scaler.scale(loss).backward()``."""
    match call_at(trace.snapshot, backward.span):
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Attribute(value=scaler, attr="scale")))):
            return dotted(scaler)
        case _:
            return None


def loss_of(trace: Trace, backward: Event) -> Span | None:
    """The loss in ``loss.backward()``, ``scaler.scale(loss).backward()`` and ``accelerator.backward(loss)``."""
    match call_at(trace.snapshot, backward.span):
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Attribute(attr="scale"), args=[loss]), attr="backward")):
            found: ast.expr = loss
        case ast.Call(func=ast.Attribute(attr="backward"), args=[loss]) if isinstance(backward.subject, Instance):
            found = loss
        case ast.Call(func=ast.Attribute(value=loss, attr="backward")) if backward.subject is None:
            found = loss
        case _:
            return None
    return span_of(trace.snapshot, backward.span.path, found)


def after(trace: Trace, event: Event, kind: Kind, subject: Value) -> Event | None:
    """The first event of that kind and subject after ``event``."""
    seen = False
    for each in trace.events(event.kind, kind):
        seen = seen or each is event
        if seen and each is not event and each.kind is kind and each.subject is subject:
            return each
    return None
