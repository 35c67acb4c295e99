"""Bytes to syntax tree, and the only conversion between byte positions, lines and columns.

A ``Span`` is the one position that is passed around; lines and columns are made at the edges.
Reading never raises: a file that cannot be analysed becomes ``NotAnalysed`` with the reason.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from bisect import bisect_right
from dataclasses import dataclass, field

from analysis.certainty import Place

#: Larger files are generated data, not training code; the limit keeps a hostile file cheap.
MAX_BYTES = 2_000_000
#: Deeper nesting than any person writes; the interpreter and LibCST recurse on it.
MAX_DEPTH = 180
#: ``ast.parse`` itself recurses: count brackets and operators before it sees them.
MAX_BRACKET_DEPTH = 180


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open UTF-8 byte offsets ``start``–``end`` in the file ``path``."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NotAnalysed:
    """A file that was passed over, and why, in one sentence."""

    path: str
    reason: str
    line: int = 1


@dataclass(frozen=True, slots=True)
class Position:
    """A place for people: 1-based lines, 1-based columns in characters; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, eq=False)
class SourceFile:
    """A parsed file. ``content`` is UTF-8 without BOM; ``offset`` bytes of BOM stand before it in the file."""

    path: str
    content: bytes
    tree: ast.Module
    line_starts: tuple[int, ...] = field(repr=False)
    offset: int = 0

    def span(self, node: ast.AST) -> Span:
        """The bytes of a node that has a position."""
        start = self.line_starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]  # every expr, stmt and arg has it
        end = self.line_starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return Span(self.path, start, end)

    def line_of(self, offset: int) -> int:
        """The 1-based line that holds the byte ``offset``."""
        return bisect_right(self.line_starts, offset)

    def place(self, span: Span) -> Place:
        """The line on which ``span`` starts."""
        return Place(self.path, self.line_of(span.start))

    def position(self, span: Span) -> Position:
        """``span`` in lines and character columns."""
        line, column = self._line_column(span.start)
        end_line, end_column = self._line_column(span.end)
        return Position(line, column, end_line, end_column)

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
    content, offset = decoded
    too_deep = _bracket_depth(path, content)
    if too_deep is not None:
        return too_deep
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = ast.parse(content, filename=path)
    except SyntaxError as error:
        return NotAnalysed(path, f"not valid Python: {error.msg}", error.lineno or 1)
    except (ValueError, RecursionError, MemoryError) as error:
        return NotAnalysed(path, f"cannot be parsed: {type(error).__name__}")
    if _depth_exceeds(tree, MAX_DEPTH):
        return NotAnalysed(path, f"expressions nested more than {MAX_DEPTH} deep")
    return SourceFile(path, content, tree, _line_starts(content), offset)


def _decode(path: str, raw: bytes) -> tuple[bytes, int] | NotAnalysed:
    """UTF-8 content without BOM, and how many bytes of BOM stood before it."""
    if b"\x00" in raw:
        return NotAnalysed(path, "holds NUL bytes, so it is not Python source (or not UTF-8)")
    offset = 3 if raw.startswith(b"\xef\xbb\xbf") else 0
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        text = raw.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        return NotAnalysed(path, f"cannot be decoded: {error}")
    if encoding not in {"utf-8", "utf-8-sig"}:
        return _recoded(text), 0
    return raw[offset:], offset


def _recoded(text: str) -> bytes:
    """UTF-8 bytes of a file in another encoding; its coding cookie must not mislead the parser."""
    lines = text.encode("utf-8").split(b"\n", 2)
    head = [line.replace(b"coding", b"cod1ng") if line.lstrip().startswith(b"#") else line for line in lines[:2]]
    return b"\n".join(head + lines[2:])


def _bracket_depth(path: str, content: bytes) -> NotAnalysed | None:
    """Refuse bracket towers before the parser recurses into them (strings are counted too: harmless)."""
    depth = 0
    for index, byte in enumerate(content):
        if byte in b"([{":
            depth += 1
            if depth > MAX_BRACKET_DEPTH:
                return NotAnalysed(path, f"brackets nested more than {MAX_BRACKET_DEPTH} deep", content.count(b"\n", 0, index) + 1)
        elif byte in b")]}":
            depth = max(depth - 1, 0)
    return None


def _depth_exceeds(tree: ast.AST, limit: int) -> bool:
    """Whether the tree is deeper than ``limit``; iterative, since the tree may be hostile. ``elif`` chains do not count."""
    stack: list[tuple[ast.AST, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > limit:
            return True
        for name, value in ast.iter_fields(node):
            chained = isinstance(node, ast.If) and name == "orelse"
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST):
                    stack.append((child, depth if chained else depth + 1))
    return False


def _line_starts(content: bytes) -> tuple[int, ...]:
    """Byte offset of every line; lines end as the parser ends them: ``\\n``, ``\\r\\n`` or ``\\r``."""
    starts = [0]
    position = 0
    for line in content.splitlines(keepends=True):
        position += len(line)
        starts.append(position)
    return tuple(starts)
