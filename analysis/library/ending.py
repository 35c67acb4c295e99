"""Comparisons that some loop of their file is left by, whoever else asks them: ``if step % 100 == 0 or step >= most: save()`` … ``if step >= most: return``."""

from __future__ import annotations

import ast
from functools import lru_cache

from analysis.source import SourceFile, Span
from analysis.syntax import walk


def asks_for_the_end(source: SourceFile, span: Span) -> bool:
    """Whether what stands at ``span`` compares what also decides, alone, that a loop is left."""
    return (span.start, span.end) in _asking(source)


@lru_cache(maxsize=4096)
def _asking(source: SourceFile) -> frozenset[tuple[int, int]]:
    """The bytes of the comparisons of a file that end loops, each wherever it stands."""
    loops = [node for node in walk(source.tree) if isinstance(node, (ast.For, ast.While))]
    inside = {node for loop in loops for part in loop.body for node in walk(part) if isinstance(node, ast.If)}
    ends = {ast.unparse(node.test) for node in inside if isinstance(node.test, ast.Compare) and isinstance(node.body[-1], (ast.Return, ast.Break))}
    if not ends:
        return frozenset()
    spans = (source.span(node) for node in walk(source.tree) if isinstance(node, ast.Compare) and ast.unparse(node) in ends)
    return frozenset((span.start, span.end) for span in spans)
