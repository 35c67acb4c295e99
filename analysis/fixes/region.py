"""Which lines of a file are handed to LibCST: the top-level statements around the anchors, and none that it cannot bear.

A small region is fast (a function takes a twentieth of its module) and keeps what LibCST does not round-trip, such
as a form feed elsewhere in the file, out of its reach. Every guard is decided by counting, before LibCST sees a byte.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from analysis.fixes.change import ChangeRefusedError
from analysis.source import SourceFile, Span, deeper_than

MAX_REGION_BYTES = 400_000
MAX_LINE_BYTES = 10_000
#: LibCST's metadata recurses: it bears 100 nested lists and raises at 140.
MAX_DEPTH = 100

_LINE_END = re.compile(rb"\r\n|\r|\n")
_INDENT = re.compile(rb"^([ \t]+)\S", re.MULTILINE)
#: A form feed on a line of its own, which LibCST drops: it reads a space instead and the edits leave that line alone.
_LONE_FORM_FEED = re.compile(rb"(?m)^[ \t\f]*\f[ \t\f]*(?=\r?$)")


@dataclass(frozen=True, slots=True)
class Region:
    """Whole lines of a file from byte ``start`` on; ``newline`` and ``indent`` are what inserted lines use."""

    path: str
    start: int
    text: str
    newline: str
    indent: str


def region_around(source: SourceFile, spans: tuple[Span, ...]) -> Region:
    """The region that holds all ``spans``. Raises ChangeRefusedError."""
    inside = _statements(source, spans)
    if any(deeper_than(statement, MAX_DEPTH) for statement in inside):
        raise ChangeRefusedError(f"the code around it is nested more than {MAX_DEPTH} deep")
    first = _with_comments(source, min(first_line(statement) for statement in inside))
    last = max(statement.end_lineno or statement.lineno for statement in inside)
    start, end = source.line_starts[first - 1], _line_end(source, last)
    content = source.content[start:end]
    if len(content) > MAX_REGION_BYTES:
        raise ChangeRefusedError(f"the statement around it is longer than {MAX_REGION_BYTES // 1000} kB")
    if any(len(line) > MAX_LINE_BYTES for line in _LINE_END.split(content)):
        raise ChangeRefusedError(f"a line around it is longer than {MAX_LINE_BYTES // 1000} kB")
    text = _LONE_FORM_FEED.sub(lambda match: b" " * len(match[0]), content).decode("utf-8")
    return Region(source.path, start, text, newline_of(source, content), _indent_of(source.content))


def newline_of(source: SourceFile, nearby: bytes) -> str:
    """How lines end here; else as the file's first one does."""
    found = _LINE_END.search(nearby) or _LINE_END.search(source.content)
    return found[0].decode() if found else "\n"


def _statements(source: SourceFile, spans: tuple[Span, ...]) -> list[ast.stmt]:
    """The top-level statements on the lines of the spans, all of them: lines are never split."""
    low = source.line_of(min(span.start for span in spans))
    high = source.line_of(max(span.end - 1 for span in spans))
    inside: list[ast.stmt] = []
    while True:
        grown = [statement for statement in source.tree.body if first_line(statement) <= high and (statement.end_lineno or 0) >= low]
        if not grown:
            raise ChangeRefusedError("its place is not a statement of the file")
        if len(grown) == len(inside):
            return grown
        inside = grown
        low = min(low, *(first_line(statement) for statement in grown))
        high = max(high, *(statement.end_lineno or 0 for statement in grown))


def first_line(statement: ast.stmt) -> int:
    """The line of its first decorator, if it has one."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _with_comments(source: SourceFile, line: int) -> int:
    """The first of the comment lines that stand directly above ``line``."""
    while line > 1 and source.content[source.line_starts[line - 2] :].startswith(b"#"):
        line -= 1
    return line


def _line_end(source: SourceFile, line: int) -> int:
    return source.line_starts[line] if line < len(source.line_starts) else len(source.content)


def _indent_of(content: bytes) -> str:
    found = _INDENT.search(content)
    return found[1].decode() if found else "    "
