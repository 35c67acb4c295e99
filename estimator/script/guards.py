"""Conditions by the place where they stand: what may be filtered out or passed over stays, and a way that ends in an error is not taken."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from analysis.source import SourceFile, Span
from analysis.syntax import walk

_EXITS = frozenset({"exit", "quit", "abort", "error"})


class Filter:
    """The condition of a comprehension."""


@dataclass(frozen=True, slots=True)
class Escape:
    """A condition of which one answer ends in an error: the other one is taken, inside a model too."""

    answer: bool


#: What the place of a condition says.
Meaning = bool | Filter | Escape


def stands_at(source: SourceFile | None, span: Span) -> Meaning | None:
    """What an undecided condition at ``span`` of a file is taken to be; None where its place says nothing.

    The answer is for the condition without its negations (``x == 1`` of ``if x != 1: raise``), as a domain is asked for it.
    """
    return None if source is None else _places(source).get((span.start, span.end))


@lru_cache(maxsize=64)
def _places(source: SourceFile) -> Mapping[tuple[int, int], Meaning]:
    found: dict[tuple[int, int], Meaning] = {}
    for test, meaning in _conditions(source.tree):
        span = source.span(test)
        found[span.start, span.end] = meaning
    return found


def _conditions(tree: ast.AST) -> Iterator[tuple[ast.expr, Meaning]]:
    for node in walk(tree):
        match node:
            case ast.comprehension(ifs=tests):
                yield from ((test, Filter()) for test in tests)
            case ast.If(test=test, body=body, orelse=orelse):
                if fails(body) != fails(orelse):
                    yield test, Escape(fails(orelse) != _negated(test))
                elif not orelse and any(_updates(statement) for statement in body):
                    yield test, not _negated(test)
            case ast.Assert(test=ast.BoolOp(values=tests)):
                yield from ((test, Escape(not _negated(test))) for test in tests)
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


def _updates(statement: ast.stmt) -> bool:
    """Whether a statement is an optimizer's step: of a window of micro-batches of unknown length, every one may be the last."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=holder, attr="step"), args=args)):
            named = [*(args or [holder])]
            return any("optim" in ast.unparse(each).lower() for each in named)
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
