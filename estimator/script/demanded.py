"""Arguments that a script demands by an error of its own: no start of it comes past the check without them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from analysis.source import SourceFile
from estimator.script.guards import fails


@lru_cache(maxsize=64)
def demanded(source: SourceFile) -> frozenset[str]:
    """Names of attributes one of which has to be given: of those that may stand for each other (``a is None and b is None``), the first."""
    checks = (node for node in ast.walk(source.tree) if isinstance(node, ast.If) and fails(node.body) and not fails(node.orelse))
    asserted = (node.test for node in ast.walk(source.tree) if isinstance(node, ast.Assert))
    return frozenset(name for test in (each.test for each in checks) for name in _missed(test)) | frozenset(filter(None, map(_asserted, asserted)))


def _asserted(test: ast.expr) -> str | None:
    match test:
        case ast.Compare(left=ast.Attribute(value=ast.Name(), attr=name), ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return name
    return None


def _missed(test: ast.expr) -> Iterator[str]:
    """The names that a condition finds missing: all of an ``or``, the first of an ``and`` of nothing else."""
    match test:
        case ast.Compare(left=ast.Attribute(value=ast.Name(), attr=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            yield name
        case ast.UnaryOp(op=ast.Not(), operand=ast.Attribute(value=ast.Name(), attr=name)):
            yield name
        case ast.BoolOp(op=ast.Or(), values=parts):
            yield from (name for part in parts for name in _missed(part))
        case ast.BoolOp(op=ast.And(), values=parts):
            found = [list(_missed(part)) for part in parts]
            yield from found[0] if all(len(names) == 1 for names in found) else ()
