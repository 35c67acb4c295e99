"""An import that a fix needs: only where missing, after the imports that are there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analysis.fixes.change import AddImport, ChangeRefusedError
from analysis.fixes.minimal import Replacement
from analysis.fixes.region import first_line, newline_of
from analysis.source import SourceFile


def import_edits(source: SourceFile, change: AddImport, used_at: int) -> tuple[Replacement, ...]:
    """One line inserted, or nothing where the name is imported already; above the line ``used_at``.

    Raises ChangeRefusedError where the name means something else in this file.
    """
    bound = change.name or change.module.partition(".")[0]
    imports = list(_top_level(source.tree.body))
    if any(_provides(statement, change) for statement in imports):
        return ()
    if bound in _assigned(source.tree) or any(_binds(statement, bound, change) for statement in imports):
        raise ChangeRefusedError(f"it needs an import of {bound}, a name that means something else in this file")
    line = f"from {change.module} import {change.name}" if change.name else f"import {change.module}"
    after = _last_import([statement for statement in source.tree.body if statement.lineno < used_at])
    position = _after_line(source, after.end_lineno or after.lineno) if after else _first_statement(source)
    newline = newline_of(source, source.content)
    unfinished = position > 0 and source.content[position - 1 : position] not in {b"\n", b"\r"}
    return (Replacement(position, position, f"{newline}{line}" if unfinished else f"{line}{newline}"),)


def _top_level(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run when the module does, on one way at least: also those under ``try`` and ``if``."""
    for statement in body:
        match statement:
            case ast.Import() | ast.ImportFrom():
                yield statement
            case ast.Try(body=inner, orelse=other) | ast.If(body=inner, orelse=other):
                yield from _top_level(inner)
                yield from _top_level(other)
            case _:
                pass


def _provides(statement: ast.Import | ast.ImportFrom, change: AddImport) -> bool:
    if isinstance(statement, ast.Import):
        return change.name is None and any(alias.name == change.module and alias.asname in {None, change.module} for alias in statement.names)
    wanted = statement.level == 0 and statement.module == change.module and change.name is not None
    return wanted and any(alias.name == change.name and alias.asname in {None, change.name} for alias in statement.names)


def _binds(statement: ast.Import | ast.ImportFrom, bound: str, change: AddImport) -> bool:
    """Whether the statement gives the name another meaning; ``import torch.nn`` and ``import torch`` both mean torch."""
    return any(
        (alias.asname or alias.name.partition(".")[0]) == bound
        and (isinstance(statement, ast.ImportFrom) or change.name is not None or alias.asname is not None or alias.name.partition(".")[0] != bound)
        for alias in statement.names
    )


def _assigned(tree: ast.Module) -> set[str]:
    """Names that the module's own code binds at its top level."""
    names = {node.id for statement in tree.body for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names | {statement.name for statement in tree.body if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}


def _last_import(body: list[ast.stmt]) -> ast.stmt | None:
    """The last import before the first definition: what is imported later may be so for a reason."""
    last = None
    for statement in body:
        match statement:
            case ast.Import() | ast.ImportFrom():
                last = statement
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.For() | ast.While() | ast.With():
                break
            case _:
                pass
    return last


def _first_statement(source: SourceFile) -> int:
    """Where the first import of a file goes: below its docstring, above its first statement."""
    body = source.tree.body
    if not body:
        return len(source.content)
    if ast.get_docstring(source.tree, clean=False) is not None:
        return _after_line(source, body[0].end_lineno or body[0].lineno)
    return source.line_starts[first_line(body[0]) - 1]


def _after_line(source: SourceFile, line: int) -> int:
    return source.line_starts[line] if line < len(source.line_starts) else len(source.content)
