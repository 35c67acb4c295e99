"""Learning rates that a program computes itself, from a counter and the length of the training. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from analysis.modules import Modules
from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Kind
from analysis.trace.reading import around


@dataclass(frozen=True, slots=True)
class HandWritten:
    """A learning rate computed at ``span`` from a counter of ``counted``, and a length that is counted in something else at ``length``."""

    span: Span
    length: Span
    counted: Literal["batches", "epochs"]


def out_of_step(trace: Trace) -> Iterator[HandWritten]:
    """Calls that compute a learning rate from a counter of batches and the number of epochs, or from a counter of epochs and the number of batches."""
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
                found = _rates(trace, source, batches, {ast.unparse(length)}, _counters(epochs, batches))
                yield from (HandWritten(source.span(call), source.span(length), "batches") for call in found)
            totals = {name: total for name, total in _totals(stands.function) if any(name == each.id for each in walk(epochs) if isinstance(each, ast.Name))}
            for call in _rates(trace, source, epochs, set(totals), _epoch(epochs)) if totals else ():
                given = [*call.args, *(keyword.value for keyword in call.keywords)]
                total = next(totals[each.id] for each in given if isinstance(each, ast.Name) and each.id in totals)
                yield HandWritten(source.span(call), source.span(total), "epochs")


def _epoch(epochs: ast.stmt) -> set[str]:
    """The counter of the loop over epochs, which nothing else counts on."""
    names = [node.id for node in walk(epochs) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return {epochs.target.id} if isinstance(epochs, ast.For) and isinstance(epochs.target, ast.Name) and names.count(epochs.target.id) == 1 else set()


def _totals(function: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names of numbers of batches in all epochs: ``total = epochs * len(loader)``, each assigned once."""
    stored = [node.id for node in walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    for node in walk(function):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.BinOp(op=ast.Mult(), left=ast.Call(func=ast.Name(id="len")))
                | ast.BinOp(op=ast.Mult(), right=ast.Call(func=ast.Name(id="len"))) as total,
            ) if stored.count(name) == 1:
                yield name, total


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


def _rates(trace: Trace, source: SourceFile, loop: ast.stmt, lengths: set[str], counters: set[str]) -> Iterator[ast.Call]:
    """Calls with a counter and a length among their arguments whose result becomes a learning rate."""
    for node in walk(loop):
        match node:
            case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value="lr"))], value=value):
                found = value if isinstance(value, ast.Call) else _assigned(loop, value)
                if found is not None and _divides(trace, source, found, lengths, counters):
                    yield found


def _assigned(batches: ast.stmt, value: ast.expr) -> ast.Call | None:
    """The call whose result has the name ``value``."""
    for node in walk(batches):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if isinstance(value, ast.Name) and name == value.id:
                return call
    return None


def _divides(trace: Trace, source: SourceFile, call: ast.Call, lengths: set[str], counters: set[str]) -> bool:
    """Whether the function that is called divides the counter by the length."""
    function = _called(trace, source, call)
    if function is None:
        return False
    given = dict(zip((each.arg for each in function.args.args), call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    counted = {parameter for parameter, value in given.items() if isinstance(value, ast.Name) and value.id in counters}
    told = {parameter for parameter, value in given.items() if ast.unparse(value) in lengths}
    quotients = (node for node in walk(function) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div))
    return any(_is_offset_of(node.left, counted) and _is_offset_of(node.right, told) for node in quotients)


def _is_offset_of(node: ast.expr, names: set[str]) -> bool:
    """Whether it is one of the names, less something perhaps, and bounded: ``max(1, n - warmup)``."""
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.BinOp(op=ast.Sub() | ast.Add(), left=left, right=right):
            return _is_offset_of(left, names) or (isinstance(node.op, ast.Add) and _is_offset_of(right, names))
        case ast.BinOp(op=ast.Mult(), left=ast.Constant() | ast.Attribute(attr="pi"), right=right):
            return _is_offset_of(right, names)
        case ast.Call(func=ast.Name(id="max" | "min" | "float"), args=args):
            return any(_is_offset_of(each, names) for each in args)
    return False


def _called(trace: Trace, source: SourceFile, call: ast.Call) -> ast.FunctionDef | None:
    """The function that is called, of this file or of one that it imports."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    trees = [source.tree]
    for node in walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.module and any((each.asname or each.name) == name for each in node.names):
            path = Modules(trace.snapshot).resolve("." * node.level + node.module, source.path, trace.path)
            imported = trace.snapshot.source(path) if path is not None else None
            trees += [imported.tree] if isinstance(imported, SourceFile) else []
    return next((node for tree in trees for node in walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name), None)
