"""Names whose values are only looked at: printed, logged, read as a number. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from analysis.enclosing import enclosing, expression_at
from analysis.source import SourceFile, Span
from analysis.syntax import walk


def assigned_name(source: SourceFile, span: Span, reads: Iterable[Span]) -> tuple[str, ast.stmt] | None:
    """``name`` of the statement ``name = …`` around ``span``, with the statement; of several targets the one that stands at ``reads``."""
    statement = enclosing(source, span).statement
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name, statement
        case ast.Assign(targets=[ast.Tuple(elts=elements)]):
            names = {each.id for each in elements if isinstance(each, ast.Name)}
            read = names & {found for each in reads if each.path == source.path and (found := _name_at(source, each)) is not None}
            return (next(iter(read)), statement) if len(read) == 1 else None
        case _:
            return None


def _name_at(source: SourceFile, span: Span) -> str | None:
    """``loss`` of ``loss.item()``, ``loss.detach().cpu()``, ``float(loss)``."""
    node: ast.AST | None = expression_at(source, span)
    while not isinstance(node, ast.Name):
        match node:
            case ast.Call(func=ast.Attribute(value=inner)) | ast.Call(func=ast.Name(), args=[inner]) | ast.Attribute(value=inner):
                node = inner
            case _:
                return None
    return node.id


def only_read(source: SourceFile, span: Span, name: str, reads: Collection[Span]) -> bool:
    """Whether the function around ``span`` does nothing with ``name`` but to read it, and does read it.

    ``reads`` are the places where it is known to be read as a number or logged; what is printed or formatted is read too.
    """
    scope = enclosing(source, span).function or source.tree
    held = [*reads, *(source.span(node) for node in walk(scope) if _prints(node))]
    uses = list(_uses(source, scope, name))
    return bool(uses) and all(any(read.path == use.path and read.start <= use.start and use.end <= read.end for read in held) for use in uses)


def _prints(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print")


def _uses(source: SourceFile, scope: ast.AST, name: str) -> Iterator[Span]:
    """Where the value of ``name`` is taken, in inner functions too."""
    for node in walk(scope):
        match node:
            case ast.Name(id=found, ctx=ast.Load()) if found == name:
                yield source.span(node)
            case ast.AugAssign(target=ast.Name(id=found) as target) if found == name:
                yield source.span(target)
            case ast.Global(names=names) | ast.Nonlocal(names=names) if name in names:
                yield source.span(node)
