"""The source around an event, for messages and fixes: what is called, on what, in which statement and function."""

from __future__ import annotations

import ast

from analysis.enclosing import Enclosing, enclosing, expression_at
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span

#: Longer source is cut in a message.
_LONGEST = 60


def text(snapshot: Snapshot, span: Span) -> str:
    """The source of ``span`` on one line, cut where it is long."""
    source = snapshot.source(span.path)
    found = " ".join(source.text(span).split()) if isinstance(source, SourceFile) else "…"
    return found if len(found) <= _LONGEST else found[: _LONGEST - 1] + "…"


def call_at(snapshot: Snapshot, span: Span) -> ast.Call | None:
    """The call at ``span``."""
    source = snapshot.source(span.path)
    found = expression_at(source, span) if isinstance(source, SourceFile) else None
    return found if isinstance(found, ast.Call) else None


def receiver(snapshot: Snapshot, span: Span) -> str | None:
    """``a.b`` of the call ``a.b.method(…)`` at ``span``, if it is a plain dotted name."""
    call = call_at(snapshot, span)
    return dotted(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else None


def callee(snapshot: Snapshot, span: Span) -> str | None:
    """``a.b`` of the call ``a.b(…)`` at ``span``, if it is a plain dotted name."""
    call = call_at(snapshot, span)
    return dotted(call.func) if call is not None else None


def dotted(node: ast.expr) -> str | None:
    """A name or a chain of attributes as it is written."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            owner = dotted(value)
            return None if owner is None else f"{owner}.{attr}"
        case _:
            return None


def iterated_name(snapshot: Snapshot, span: Span) -> str | None:
    """What the loop over the expression at ``span`` takes its items from, within ``enumerate`` or a progress bar too, if it is a dotted name."""
    source = snapshot.source(span.path)
    found = expression_at(source, span) if isinstance(source, SourceFile) else None
    while isinstance(found, ast.Call) and found.args:
        found = found.args[0]
    return dotted(found) if found is not None else None


def around(snapshot: Snapshot, span: Span) -> Enclosing | None:
    """What stands around ``span``, if its file can be read."""
    source = snapshot.source(span.path)
    return enclosing(source, span) if isinstance(source, SourceFile) else None


def runs_decorated(snapshot: Snapshot, span: Span) -> bool:
    """Whether the call at ``span`` is what a decorator's wrapper does: it calls the function that was handed to the function around it."""
    call, stands = call_at(snapshot, span), around(snapshot, span)
    match call:
        case ast.Call(func=ast.Name(id=name)) if stands is not None:
            functions = [each for each in stands.statements if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
            return any(name in {given.arg for given in (*each.args.posonlyargs, *each.args.args)} for each in functions[:-1])
    return False


def statement_of(snapshot: Snapshot, span: Span) -> Span | None:
    """The innermost statement around ``span``."""
    return span_of(snapshot, span.path, found.statement) if (found := around(snapshot, span)) and found.statement else None


def span_of(snapshot: Snapshot, path: str, node: ast.AST) -> Span | None:
    """The span of a node of the file ``path``."""
    source = snapshot.source(path)
    return source.span(node) if isinstance(source, SourceFile) else None
