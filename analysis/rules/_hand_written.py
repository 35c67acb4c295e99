"""Learning rates that a program computes itself, from a counter and the length of the training. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Kind
from analysis.trace.reading import around


@dataclass(frozen=True, slots=True)
class HandWritten:
    """A learning rate computed at ``span`` from the batches so far and the number of ``epochs`` (where that is counted to)."""

    span: Span
    epochs: Span


def out_of_step(trace: Trace) -> Iterator[HandWritten]:
    """Calls that compute a learning rate from a counter of batches and the number of epochs."""
    seen: set[ast.AST] = set()
    for event in trace.events(Kind.STEP):
        source = trace.snapshot.source(event.span.path) if event.span.path in trace.snapshot.contents else None
        stands = around(trace.snapshot, event.span) if isinstance(source, SourceFile) else None
        if stands is None or stands.function is None or stands.function in seen or not isinstance(source, SourceFile):
            continue
        seen.add(stands.function)
        loops = [each for each in stands.statements if isinstance(each, (ast.For, ast.While))]
        for epochs, batches in pairwise(loops):
            length = _length(epochs)
            if length is not None:
                yield from (
                    HandWritten(source.span(call), source.span(length)) for call in _rates(source, batches, ast.unparse(length), _counters(epochs, batches))
                )


def _length(loop: ast.stmt) -> ast.expr | None:
    """``epochs`` of ``for epoch in range(epochs)``."""
    match loop:
        case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[ast.Name() | ast.Attribute() as length])):
            return length
    return None


def _counters(epochs: ast.stmt, batches: ast.stmt) -> set[str]:
    """Names that are counted up with every batch and never set back."""
    counted = {node.target.id for node in getattr(batches, "body", ()) if _counts(node)}
    return counted - {node.id for node in walk(epochs) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and not _is_count(epochs, node)}


def _counts(node: ast.AST) -> bool:
    match node:
        case ast.AugAssign(target=ast.Name(), op=ast.Add(), value=ast.Constant(value=1)):
            return True
    return False


def _is_count(loop: ast.stmt, name: ast.Name) -> bool:
    return any(_counts(node) and node.target is name for node in walk(loop) if isinstance(node, ast.AugAssign))


def _rates(source: SourceFile, batches: ast.stmt, length: str, counters: set[str]) -> Iterator[ast.Call]:
    """Calls with a counter and the length among their arguments whose result becomes a learning rate."""
    for node in walk(batches):
        match node:
            case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value="lr"))], value=value):
                found = value if isinstance(value, ast.Call) else _assigned(batches, value)
                if found is not None and _divides(source, found, length, counters):
                    yield found


def _assigned(batches: ast.stmt, value: ast.expr) -> ast.Call | None:
    """The call whose result has the name ``value``."""
    for node in walk(batches):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if isinstance(value, ast.Name) and name == value.id:
                return call
    return None


def _divides(source: SourceFile, call: ast.Call, length: str, counters: set[str]) -> bool:
    """Whether the function that is called, which stands in the same file, divides the counter by the length."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    function = next((node for node in walk(source.tree) if isinstance(node, ast.FunctionDef) and node.name == name), None)
    if function is None:
        return False
    given = dict(zip((each.arg for each in function.args.args), call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    counted = {parameter for parameter, value in given.items() if isinstance(value, ast.Name) and value.id in counters}
    lengths = {parameter for parameter, value in given.items() if ast.unparse(value) == length}
    for node in walk(function):
        match node:
            case ast.BinOp(left=ast.Name(id=left), op=ast.Div(), right=ast.Name(id=right)) if left in counted and right in lengths:
                return True
    return False
