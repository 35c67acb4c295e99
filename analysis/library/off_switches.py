"""Switches that only turn something off: ``if args.evaluate and not args.quick``, where nothing else asks for ``args.quick``.

With everything on, such a switch would keep the program from what the others ask for: it is off where they are on, and on where they are off.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeGuard

from analysis.source import SourceFile, Span
from analysis.syntax import walk


def turns_off(source: SourceFile, span: Span) -> bool:
    """Whether what stands at ``span`` is the negation of such a switch, or ends with one."""
    return (span.start, span.end) in _negations(source)


@lru_cache(maxsize=4096)
def _negations(source: SourceFile) -> frozenset[tuple[int, int]]:
    """The bytes of the negations of what turns something off, and of the conjunctions that end with one: they have its truth, where they come to it."""
    nodes = list(walk(source.tree))
    beside = {ast.unparse(each.operand) for node in nodes for each in _beside(node)}
    if not beside:
        return frozenset()
    negated = [each for each in nodes if _is_negation(each) and ast.unparse(each.operand) in beside]
    inside = {each.operand for each in negated}
    loaded = (each for each in nodes if isinstance(each, (ast.Name, ast.Attribute)) and isinstance(each.ctx, ast.Load) and each not in inside)
    off = beside - {ast.unparse(each) for each in loaded}
    found = {each for each in negated if ast.unparse(each.operand) in off}
    ended = (each for each in nodes if isinstance(each, ast.BoolOp) and isinstance(each.op, ast.And) and each.values[-1] in found)
    spans = (source.span(each) for each in (*found, *ended))
    return frozenset((span.start, span.end) for span in spans)


def _beside(node: ast.AST) -> Iterator[ast.UnaryOp]:
    """The negated switches of a conjunction that asks for something else, too."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        negated = [each for each in node.values if _is_negation(each)]
        yield from negated if len(negated) < len(node.values) else ()


def _is_negation(node: ast.AST) -> TypeGuard[ast.UnaryOp]:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and isinstance(node.operand, (ast.Name, ast.Attribute))
