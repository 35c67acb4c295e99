"""Options that set how many micro-batches make a step: whoever gives one asks for more than one, whatever its default is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from analysis.source import SourceFile

#: What such an option is taken for where its default is one: a run of some windows and a tail stays short.
GIVEN = 4
_CALLS = frozenset({"step", "zero_grad"})


@lru_cache(maxsize=128)
def windows(source: SourceFile) -> frozenset[str]:
    """Names of what a counter is divided by in conditions behind which an optimizer steps."""
    return frozenset(name for node in ast.walk(source.tree) if isinstance(node, ast.If) and _steps(node) for name in _moduli(node.test))


def _steps(node: ast.If) -> bool:
    calls = (each for part in node.body for each in ast.walk(part) if isinstance(each, ast.Call))
    return any(isinstance(each.func, ast.Attribute) and each.func.attr in _CALLS for each in calls)


def _moduli(test: ast.expr) -> Iterator[str]:
    for node in ast.walk(test):
        match node:
            case ast.BinOp(op=ast.Mod(), right=ast.Name(id=name) | ast.Attribute(attr=name)):
                yield name
