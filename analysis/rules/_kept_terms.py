"""Losses that are kept under a key, and whether anything but a log takes them out again. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from analysis.enclosing import enclosing
from analysis.library.tensor import Made, Tensor
from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace import Trace

#: How a value is cut off to be read.
_CUT = frozenset({"detach", "data", "cpu", "float", "clone"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A value that the source puts into a dictionary under ``key``, with where ``others`` go into the same one.

    ``name`` is what the function with that ``scope`` calls the dictionary ("" if it gives it no name at once).
    """

    key: str
    others: tuple[Span, ...]
    scope: ast.AST
    name: str


def entry_of(trace: Trace, span: Span) -> Entry | None:
    """``losses["key"] = …`` around ``span``, or the entry of a dictionary that is written out."""
    source = trace.snapshot.source(span.path) if span.path in trace.snapshot.contents else None
    if not isinstance(source, SourceFile):
        return None
    stands = enclosing(source, span)
    scope = stands.function or source.tree
    for node in walk(stands.statement) if stands.statement is not None else ():
        if not isinstance(node, ast.Dict):
            continue
        pairs = list(zip(node.keys, node.values, strict=True))
        key = next((each for each, value in pairs if _holds(source.span(value), span)), None)
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            others = tuple(source.span(value) for each, value in pairs if each is not key)
            return Entry(key.value, others, scope, _named(stands.statement, node))
    match stands.statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str() as found))]):
            return Entry(found, tuple(source.span(value) for key, value in _assigned(scope, name) if key != found), scope, name)
        case ast.Assign(targets=[ast.Name(id=name)]):
            return _written_out(source, scope, name)
    return None


def _written_out(source: SourceFile, scope: ast.AST, name: str) -> Entry | None:
    """The entry of a dictionary that ``name`` goes into, if nothing else is done with it."""
    taken = [node for node in walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id == name]
    for node in walk(scope) if len(taken) == 1 else ():
        match node:
            case ast.Dict(keys=keys, values=values) if taken[0] in values and isinstance(key := keys[values.index(taken[0])], ast.Constant):
                others = [source.span(made) for value in values if value is not taken[0] for made in (value, *_given(scope, value))]
                named = next((each for each in walk(scope) if isinstance(each, ast.Assign) and each.value is node), None)
                return Entry(key.value, tuple(others), scope, _named(named, node)) if isinstance(key.value, str) else None
    return None


def _given(scope: ast.AST, value: ast.expr) -> Iterator[ast.expr]:
    """What a name was assigned."""
    for node in walk(scope) if isinstance(value, ast.Name) else ():
        match node, value:
            case ast.Assign(targets=[ast.Name(id=found)], value=made), ast.Name(id=name) if found == name:
                yield made


def only_logged(trace: Trace, entry: Entry, places: Collection[Span], reads: Collection[Span]) -> bool:
    """Whether the functions around ``places`` name the key nowhere else, and take no values of a dictionary as a whole, but to read them."""
    scopes: dict[int, tuple[SourceFile, ast.AST]] = {}
    for span in places:
        source = trace.snapshot.source(span.path) if span.path in trace.snapshot.contents else None
        if isinstance(source, SourceFile):
            scope = enclosing(source, span).function or source.tree
            scopes[id(scope)] = source, scope
    takes = (source.span(node) for source, scope in scopes.values() for node in walk(scope) if _takes(node, entry, scope))
    return all(any(_holds(read, take) or _holds(take, read) for read in reads) for take in takes)


def uncut(value: Tensor) -> Made | None:
    """What made the value, before it was cut off to be read."""
    made = value.made
    while made is not None and made.op in _CUT and (before := next(iter(made.tensors), None)) is not None:
        made = before.made
    return made


def is_trained(entry: Entry, operations: Collection[Made]) -> bool:
    """Whether a backward goes through another entry of the dictionary."""
    return any(_holds(other, made.span) for other in entry.others for made in operations)


def _takes(node: ast.AST, entry: Entry, scope: ast.AST) -> bool:
    """Whether the node takes the entry, or all values, out of a dictionary that may be the one."""
    match node:
        case ast.Subscript(value=held, slice=ast.Constant(value=found), ctx=ast.Load()) if found == entry.key:
            taken = held
        case ast.Call(func=ast.Attribute(value=held, attr="get" | "pop"), args=[ast.Constant(value=found), *_]) if found == entry.key:
            taken = held
        case ast.Call(func=ast.Attribute(value=held, attr="values"), args=[]):
            taken = held
        case _:
            return False
    return scope is not entry.scope or (isinstance(taken, ast.Name) and taken.id == entry.name)


def _named(statement: ast.stmt | None, node: ast.Dict) -> str:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node:
            return name
    return ""


def _assigned(scope: ast.AST, name: str) -> Iterator[tuple[str, ast.expr]]:
    for node in walk(scope):
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=found), slice=ast.Constant(value=str() as key))], value=value) if found == name:
                yield key, value


def _holds(outer: Span, part: Span) -> bool:
    return outer.path == part.path and outer.start <= part.start and part.end <= outer.end
