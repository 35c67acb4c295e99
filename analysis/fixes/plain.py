"""Changes that are certain without LibCST, so that the commonest fixes need no process of its own.

An expression's bytes are known from the syntax tree; what the tree does not tell is whether parentheses around an
operator belong to it or to a call, and those cases are left to LibCST.
"""

from __future__ import annotations

import ast

from analysis.enclosing import enclosing
from analysis.fixes.change import Change, InsertAfter, InsertBefore, ReplaceExpression, UnwrapCall, WrapExpression, anchors
from analysis.fixes.insertion import inserted
from analysis.fixes.parentheses import spliced, wrapped
from analysis.fixes.region import Region
from analysis.source import SourceFile, Span

#: Parentheses around one of these say nothing, so that it does not matter whose they are.
_PRIMARY = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


def plainly(source: SourceFile, region: Region, change: Change) -> str | None:
    """The region's text after ``change``, whose spans count from the region's first byte; None where LibCST is needed."""
    if isinstance(change, InsertBefore | InsertAfter):
        return inserted(source, region, change)
    if not isinstance(change, WrapExpression | ReplaceExpression | UnwrapCall):
        return None
    place, *_ = anchors(change)
    content = region.text.encode("utf-8")
    before, old, after = (part.decode("utf-8") for part in (content[: place.start], content[place.start : place.end], content[place.end :]))
    node = _expression(source, region, place)
    enclosed = before.rstrip().endswith("(") or after.lstrip().startswith(")")
    if node is None or (enclosed and not isinstance(node, _PRIMARY)):
        return None
    match change:
        case WrapExpression():
            text = wrapped(change.before, old, change.after)
        case ReplaceExpression():
            text = change.text
        case UnwrapCall():
            kept = _kept(source, region, node, change)
            if kept is None:
                return None
            text = content[kept.start : kept.end].decode("utf-8")
    return spliced(region.text, len(before), len(before) + len(old), text)


def _kept(source: SourceFile, region: Region, node: ast.expr, change: UnwrapCall) -> Span | None:
    """What the call becomes, if that is certain."""
    if change.keep is not None:
        return change.keep if _expression(source, region, change.keep) else None
    match node:
        case ast.Call(args=[first, *_]) if not isinstance(first, ast.Starred):
            span = source.span(first)
            return Span(span.path, span.start - region.start, span.end - region.start)
    return None


def _expression(source: SourceFile, region: Region, place: Span) -> ast.expr | None:
    """The outermost expression with exactly this place; none in an f-string, where places are not to be relied on."""
    wanted = Span(source.path, place.start + region.start, place.end + region.start)
    statement = enclosing(source, wanted).statement
    waiting: list[ast.AST] = [statement] if statement else []
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.expr) and source.span(node) == wanted:
            return node
        if not isinstance(node, ast.JoinedStr):
            waiting.extend(ast.iter_child_nodes(node))
    return None
