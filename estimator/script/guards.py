"""Conditions by the place where they stand: what may be filtered out or passed over stays, and a way that ends in an error is not taken."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache

from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span
from estimator.library import source_at

_EXITS = frozenset({"exit", "quit", "abort", "error"})


class Filter:
    """The condition of a comprehension."""


def stands_at(snapshot: Snapshot, span: Span) -> bool | Filter | None:
    """What an undecided condition at ``span`` is taken to be: the answer that avoids an error, ``Filter``, or None where its place says nothing.

    The answer is for the condition without its negations (``x == 1`` of ``if x != 1: raise``), as a domain is asked for it.
    """
    source = snapshot.source(span.path) if span.path in snapshot.contents else source_at(span.path)
    return _places(source).get((span.start, span.end)) if isinstance(source, SourceFile) else None


@lru_cache(maxsize=64)
def _places(source: SourceFile) -> Mapping[tuple[int, int], bool | Filter]:
    found: dict[tuple[int, int], bool | Filter] = {}
    for test, meaning in _conditions(source.tree):
        span = source.span(test)
        found[span.start, span.end] = meaning
    return found


def _conditions(tree: ast.AST) -> Iterator[tuple[ast.expr, bool | Filter]]:
    for node in ast.walk(tree):
        match node:
            case ast.comprehension(ifs=tests):
                yield from ((test, Filter()) for test in tests)
            case ast.If(test=test, body=body, orelse=orelse):
                if fails(body) != fails(orelse):
                    yield test, fails(orelse) != _negated(test)
            case ast.Assert(test=ast.BoolOp(values=tests)):
                yield from ((test, not _negated(test)) for test in tests)
            case ast.For(body=statements):
                yield from _sorted_out(statements)


def _sorted_out(statements: list[ast.stmt]) -> Iterator[tuple[ast.expr, bool]]:
    """Conditions by which the body of a loop gathers some items and passes over others: whatever may be gathered is."""
    for statement in statements:
        match statement:
            case ast.If(test=test, body=[ast.Continue()], orelse=[]):
                yield test, _negated(test)
            case ast.If(test=test, body=[*_, last], orelse=[]) if _gathers(last):
                yield test, not _negated(test)


def _gathers(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append" | "add" | "extend" | "update"))):
            return True
        case ast.Assign(targets=[ast.Subscript()]):
            return True
    return False


def fails(body: list[ast.stmt]) -> bool:
    """Whether a block ends in an error or the end of the program."""
    match body[-1] if body else None:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name in _EXITS
    return False


def _negated(test: ast.expr) -> bool:
    """Whether the condition is the contrary of what is asked of a domain."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not _negated(inner)
        case ast.Compare(ops=[ast.NotEq() | ast.NotIn() | ast.IsNot()]):
            return True
        case ast.BoolOp(values=[*_, last]):
            return _negated(last)
    return False
