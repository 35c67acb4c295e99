"""What stands around a position: the innermost statement, and the function that holds it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.source import SourceFile, Span
from analysis.syntax import walk


@dataclass(frozen=True, slots=True, eq=False)
class Enclosing:
    """``statements`` from the outermost inwards; ``function`` is the innermost ``def``, ``qualname`` its qualified name ("" at module level)."""

    statements: tuple[ast.stmt, ...]
    function: ast.FunctionDef | ast.AsyncFunctionDef | None
    qualname: str

    @property
    def statement(self) -> ast.stmt | None:
        """The innermost statement."""
        return self.statements[-1] if self.statements else None


def enclosing(file: SourceFile, span: Span) -> Enclosing:
    """What stands around ``span``; a ``def`` encloses its body and its decorators."""
    statements: list[ast.stmt] = []
    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    names: list[str] = []
    body: Iterator[ast.stmt] = iter(file.tree.body)
    while (found := _holding(file, body, span)) is not None:
        statements.append(found)
        if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(found.name)
            function = None if isinstance(found, ast.ClassDef) else found
        body = _inner(found)
    return Enclosing(tuple(statements), function, ".".join(names))


def function_at(file: SourceFile, line: int) -> str:
    """The qualified name of the function or class around a 1-based line, "" at module level."""
    if not 1 <= line <= len(file.line_starts):
        return ""
    start = file.line_starts[line - 1]
    end = file.line_starts[line] if line < len(file.line_starts) else len(file.content)
    text = file.content[start:end]
    at = start + len(text) - len(text.lstrip())
    return enclosing(file, Span(file.path, at, at)).qualname


def functions_of(file: SourceFile) -> Iterator[str]:
    """The qualified names of all functions and classes of a file."""
    todo: list[tuple[str, ast.stmt]] = [("", statement) for statement in file.tree.body]
    while todo:
        around, statement = todo.pop()
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            around = f"{around}.{statement.name}" if around else statement.name
            yield around
        todo.extend((around, each) for each in _inner(statement))


def expression_at(file: SourceFile, span: Span) -> ast.expr | None:
    """The outermost expression with exactly this span."""
    statement = enclosing(file, span).statement
    if statement is None:
        return None
    found = (node for node in walk(statement) if isinstance(node, ast.expr) and file.span(node) == span)
    return next(found, None)


def _holding(file: SourceFile, body: Iterator[ast.stmt], span: Span) -> ast.stmt | None:
    for statement in body:
        whole = file.span(statement)
        start = min((file.span(decorator).start for decorator in getattr(statement, "decorator_list", ())), default=whole.start)
        if start <= span.start and span.end <= whole.end:
            return statement
    return None


def _inner(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements directly inside a compound one."""
    for name in ("body", "orelse", "finalbody"):
        yield from getattr(statement, name, ())
    for handler in getattr(statement, "handlers", ()):
        yield from handler.body
    for case in getattr(statement, "cases", ()):
        yield from case.body
