"""Options of a command line that are absent by default and without which the program ends: one of them is given in every run that trains."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from analysis.source import SourceFile
from analysis.syntax import walk


@lru_cache(maxsize=128)
def asked_for(source: SourceFile) -> frozenset[str]:
    """Attributes whose absence, alone or with others, ends the program: by an exception or a failed assertion."""
    found: set[str] = set()
    for node in walk(source.tree):
        match node:
            case ast.If(test=test, body=[*_, ast.Raise()]):
                found.update(_compared(test))
            case ast.Assert(test=test):
                found.update(_compared(test))
                found.update(_named(test))
    return frozenset(found)


def _compared(test: ast.expr) -> Iterator[str]:
    """Attributes that are asked for their absence anywhere in the condition."""
    for node in walk(test):
        match node:
            case ast.Compare(left=ast.Attribute(attr=name), ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=None)]):
                yield name
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from _named(operand)


def _named(test: ast.expr) -> Iterator[str]:
    """Attributes whose truth decides the condition."""
    match test:
        case ast.Attribute(attr=name):
            yield name
        case ast.BoolOp(values=parts):
            for part in parts:
                yield from _named(part)
