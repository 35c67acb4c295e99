"""Bytes to syntax tree, and the only conversion between byte positions, lines and columns.

A ``Span`` is the one position that is passed around; lines and columns are made at the edges.
Reading never raises: a file that cannot be analysed becomes ``NotAnalysed`` with the reason.
"""

from __future__ import annotations

import ast
import codecs
import sys
import tokenize
import warnings
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate

from analysis.certainty import Place
from analysis.syntax import children

#: Larger files are generated data, not training code; the limit keeps a hostile file cheap.
MAX_BYTES = 1_000_000
#: Deeper nesting than any person writes; the interpreter recurses on it.
MAX_DEPTH = 180
#: What the parser may recurse while it builds the tree: CPython 3.11 takes three times this and overflows its stack where the limit was raised far.
PARSER_RECURSION = 1500
#: Levels of the syntax tree that one byte of an expression can make, and some to spare.
_LEVELS_A_BYTE = 3
#: Codecs whose decoders take quadratic time or that stand for text inside text: nobody writes source in them.
_REFUSED_CODECS = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined"})


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open UTF-8 byte offsets ``start``–``end`` in the file ``path``."""

    path: str
    start: int
    end: int

    def holds(self, other: Span) -> bool:
        """Whether ``other`` lies inside, or is the same."""
        return self.path == other.path and self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class NotAnalysed:
    """A file that was passed over, and why, in one sentence."""

    path: str
    reason: str
    line: int = 1


@dataclass(frozen=True, slots=True)
class Position:
    """A place for people: 1-based lines, 1-based columns in characters; the end is exclusive.

    In a notebook lines count from the start of ``cell``.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell of a notebook: its number among all cells, from 1, and the byte of the content at which it begins."""

    number: int
    start: int


@dataclass(frozen=True, slots=True, eq=False)
class SourceFile:
    """A parsed file. ``content`` is UTF-8 without BOM; ``offset`` bytes of BOM stand before it in the file.

    Where ``encoding`` is not ``utf-8``, ``content`` was recoded and no byte position of it is one of the file. ``cells`` are those of a
    notebook, in order.
    """

    path: str
    content: bytes
    tree: ast.Module
    line_starts: tuple[int, ...] = field(repr=False)
    offset: int = 0
    encoding: str = "utf-8"
    cells: tuple[Cell, ...] = ()

    def span(self, node: ast.AST) -> Span:
        """The bytes of a node that has a position; kept on the node, since the interpreter asks again in every iteration."""
        try:
            return node.preflight_span  # type: ignore[attr-defined,no-any-return]  # syntax nodes take attributes
        except AttributeError:
            pass
        start = self.line_starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]  # every expr, stmt and arg has it
        end = self.line_starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        span = node.preflight_span = Span(self.path, start, end)  # type: ignore[attr-defined]  # syntax nodes take attributes
        return span

    def line_of(self, offset: int) -> int:
        """The 1-based line that holds the byte ``offset``."""
        return bisect_right(self.line_starts, offset)

    def place(self, span: Span) -> Place:
        """The line on which ``span`` starts."""
        return Place(self.path, self.position(span).line)

    def position(self, span: Span) -> Position:
        """``span`` in lines and character columns."""
        line, column = self._line_column(span.start)
        end_line, end_column = self._line_column(span.end)
        cell = self.cell_of(span.start)
        above = 0 if cell is None else self.line_of(cell.start) - 1
        return Position(line - above, column, end_line - above, end_column, None if cell is None else cell.number)

    def cell_of(self, offset: int) -> Cell | None:
        """The cell that holds the byte ``offset``; None outside notebooks."""
        index = bisect_right(self.cells, offset, key=lambda cell: cell.start) - 1
        return self.cells[index] if index >= 0 else None

    def text(self, span: Span) -> str:
        """The source of ``span``."""
        return self.content[span.start : span.end].decode("utf-8")

    def _line_column(self, offset: int) -> tuple[int, int]:
        line = self.line_of(offset)
        before = self.content[self.line_starts[line - 1] : offset]
        return line, len(before.decode("utf-8", "replace")) + 1


def read(path: str, raw: bytes) -> SourceFile | NotAnalysed:
    """Parse ``raw``, the bytes of ``path``."""
    if len(raw) > MAX_BYTES:
        return NotAnalysed(path, f"larger than {MAX_BYTES // 1_000_000} MB")
    decoded = _decode(path, raw)
    if isinstance(decoded, NotAnalysed):
        return decoded
    text, encoding = decoded
    try:
        tree = _parse(path, text)
    except SyntaxError as error:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return NotAnalysed(path, f"not valid Python {version}: {error.msg}", max(error.lineno or 1, 1))
    except (RecursionError, MemoryError):
        return NotAnalysed(path, f"expressions nested more than {MAX_DEPTH} deep")
    if deeper_than(tree, MAX_DEPTH):
        return NotAnalysed(path, f"expressions nested more than {MAX_DEPTH} deep")
    content = text.encode("utf-8")
    return SourceFile(path, content, tree, _line_starts(content), len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0, encoding)


def _decode(path: str, raw: bytes) -> tuple[str, str] | NotAnalysed:
    """The text without BOM and the name of its encoding."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return NotAnalysed(path, "is UTF-16, which Python does not read: save it as UTF-8")
    if b"\x00" in raw:
        return NotAnalysed(path, "holds NUL bytes, so it is not Python source", raw.count(b"\n", 0, raw.index(b"\x00")) + 1)
    try:
        declared, _ = tokenize.detect_encoding(iter(raw.splitlines(keepends=True)).__next__)
        encoding = codecs.lookup(declared).name
        if encoding in _REFUSED_CODECS:
            return NotAnalysed(path, f"declares the encoding {encoding}, which no source is written in")
        text = raw.decode(declared)
        text.encode("utf-8")
    except (SyntaxError, UnicodeError, LookupError) as error:
        return NotAnalysed(path, f"cannot be decoded: {error}")
    return text, "utf-8" if encoding == "utf-8-sig" else encoding


def _parse(path: str, text: str) -> ast.Module:
    """The syntax tree; a str, so that a coding cookie has no say. Raises SyntaxError, RecursionError and MemoryError."""
    limit = sys.getrecursionlimit()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _lower_recursion_limit(limit)
            return ast.parse(text, filename=path)
    finally:
        sys.setrecursionlimit(limit)


def _lower_recursion_limit(limit: int) -> None:
    """To the lowest that the frames now on the stack allow, between PARSER_RECURSION and ``limit``."""
    lowered = PARSER_RECURSION
    while lowered < limit:
        try:
            sys.setrecursionlimit(lowered)
        except RecursionError:  # the caller is deeper than that already
            lowered *= 2
        else:
            return


def deeper_than(tree: ast.AST, limit: int) -> bool:
    """Whether the tree is deeper than ``limit``; level by level, since the tree may be hostile. ``elif`` chains do not count."""
    level: list[ast.AST] = [tree]
    for depth in range(limit + 1):
        below: list[ast.AST] = []
        shallow = (limit - depth) // _LEVELS_A_BYTE
        for node in level:
            if isinstance(node, ast.expr) and node.lineno == node.end_lineno and (node.end_col_offset or 0) - node.col_offset < shallow:
                continue
            if isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
                level.append(node.orelse[0])  # the loop comes to it: an elif is as deep as its if
                below.append(node.test)
                below.extend(node.body)
            else:
                below.extend(children(node))
        if not below:
            return False
        level = below
    return True


def _line_starts(content: bytes) -> tuple[int, ...]:
    """Byte offset of every line; lines end as the parser ends them: at LF, CR LF or CR."""
    return tuple(accumulate((len(line) for line in content.splitlines(keepends=True)), initial=0))
