"""Windows by which a program only reports something: as no step depends on how long one is, a short one tells the same."""

from __future__ import annotations

import ast
from functools import lru_cache

from analysis.source import SourceFile, Span
from analysis.syntax import walk

#: Parts of names of what may be a step, may lead to one, or may ask all ranks to take part.
_STEPPING = ("step", "optim", "update", "zero", "accum", "backward", "clip", "sync", "train", "reduce", "flush", "save", "gather", "barrier")


def only_reports(source: SourceFile, span: Span) -> bool:
    """Whether the remainder at ``span`` decides nothing but a branch in which nothing is named after a step, and which goes on."""
    return (span.start, span.end) in _reporting(source)


@lru_cache(maxsize=4096)
def _reporting(source: SourceFile) -> frozenset[tuple[int, int]]:
    """Remainders in conditions of such branches, by their bytes."""
    branches = (node for node in walk(source.tree) if isinstance(node, ast.If) and all(map(_reports, (*node.body, *node.orelse))))
    remainders = (part for node in branches for part in walk(node.test) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod))
    return frozenset((span.start, span.end) for span in map(source.span, remainders))


def _reports(statement: ast.stmt) -> bool:
    """Whether a statement can neither step, nor leave, nor say that a step is due."""
    for node in walk(statement):
        match node:
            case ast.Return() | ast.Break() | ast.Continue() | ast.Raise() | ast.Yield() | ast.Assign(value=ast.Constant(value=bool())):
                return False
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if any(part in name.lower() for part in _STEPPING):
                return False
    return True
