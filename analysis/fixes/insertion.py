"""Lines inserted beside a statement that has its own lines: certain without LibCST, and the commonest fix of all."""

from __future__ import annotations

import ast
import re

from analysis.enclosing import enclosing
from analysis.fixes.change import InsertAfter, InsertBefore
from analysis.fixes.region import Region, first_line
from analysis.source import SourceFile, Span

#: How change lines write one level of indentation.
_LEVEL = 4
_INDENTATION = re.compile(rb"[ \t]*")
_REST_OF_LINE = re.compile(rb"[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n)")


def inserted(source: SourceFile, region: Region, change: InsertBefore | InsertAfter) -> str | None:
    """The region's text with the lines; None where the statement shares a line, or where what is its own is not certain."""
    content = region.text.encode("utf-8")
    place = Span(source.path, change.statement.start + region.start, change.statement.end + region.start)
    statement = enclosing(source, place).statement
    if statement is None or source.span(statement) != place or _stays_first(statement) or any(quote in "\n".join(change.lines) for quote in ('"""', "'''")):
        return None
    number = first_line(statement)
    start = source.line_starts[number - 1] - region.start
    indentation = _INDENTATION.match(content, start)
    if indentation is None or not _begins_line(content, indentation.end(), change.statement.start):
        return None
    if isinstance(change, InsertBefore):
        while number > 1 and _is_comment(content, source.line_starts[number - 2] - region.start, indentation[0]):
            number -= 1
        at = source.line_starts[number - 1] - region.start
    else:
        end = _end_of_line(content, statement, change.statement.end)
        if end is None:
            return None
        at = end
    new = "".join(_indented(line, indentation[0].decode(), region) for line in change.lines)
    return (content[:at] + new.encode("utf-8") + content[at:]).decode("utf-8")


def _stays_first(statement: ast.stmt) -> bool:
    """A docstring or an import from the future: left to LibCST to refuse."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str())) | ast.ImportFrom(module="__future__"):
            return True
    return False


def _begins_line(content: bytes, first: int, start: int) -> bool:
    """Whether the statement is the first on its line, which no other line continues."""
    decorated = content.startswith(b"@", first)
    continued = content[:first].rstrip(b" \t").rstrip(b"\r\n").endswith(b"\\")
    return (decorated or first == start) and not continued and not content.startswith(b"elif", first)


def _is_comment(content: bytes, start: int, indentation: bytes) -> bool:
    return start >= 0 and content.startswith(indentation + b"#", start)


def _end_of_line(content: bytes, statement: ast.stmt, end: int) -> int | None:
    """Where the line after a simple statement begins; None for a compound one, whose last comments may be its own."""
    rest = _REST_OF_LINE.match(content, end)
    return None if rest is None or hasattr(statement, "body") or isinstance(statement, ast.Match) else rest.end()


def _indented(line: str, indentation: str, region: Region) -> str:
    """One change line in the file's own indentation and with its line end."""
    words = line.lstrip(" ")
    levels, spaces = divmod(len(line) - len(words), _LEVEL)
    return f"{indentation}{region.indent * levels}{' ' * spaces}{words}{region.newline}" if words else region.newline
