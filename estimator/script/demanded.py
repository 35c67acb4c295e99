"""Arguments that a script demands by an error of its own: no start of it comes past the check without them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from analysis.source import SourceFile
from estimator.script.guards import fails


@lru_cache(maxsize=64)
def demanded(source: SourceFile) -> frozenset[tuple[str, ...]]:
    """Names of attributes one of which has to be given: those of a group may stand for each other (``if a is None and b is None: raise``)."""
    bodies = (node.body for node in ast.walk(source.tree) if isinstance(node, (ast.FunctionDef, ast.Module)))
    return frozenset(group for body in bodies for group in _checked(body))


def _checked(body: list[ast.stmt]) -> Iterator[tuple[str, ...]]:
    """What is asked for on every way through a body."""
    for statement in body:
        match statement:
            case ast.If(test=test, body=inner, orelse=orelse) if fails(inner) and not fails(orelse):
                yield from _missed(test)
                yield from _checked(orelse)
            case ast.Assert(test=test):
                yield from _needed(test)


def _missed(test: ast.expr) -> Iterator[tuple[str, ...]]:
    """What a condition finds missing: each part of an ``or``, an ``and`` of nothing else as a whole."""
    match test:
        case ast.Compare(left=ast.Attribute(value=ast.Name(), attr=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            yield (name,)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Attribute(value=ast.Name(), attr=name)):
            yield (name,)
        case ast.BoolOp(op=ast.Or(), values=parts):
            yield from (group for part in parts for group in _missed(part))
        case ast.BoolOp(op=ast.And(), values=parts):
            found = [list(_missed(part)) for part in parts]
            if all(len(groups) == 1 for groups in found):
                yield tuple(name for [group] in found for name in group)


def _needed(test: ast.expr) -> Iterator[tuple[str, ...]]:
    match test:
        case ast.Compare(left=ast.Attribute(value=ast.Name(), attr=name), ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            yield (name,)
