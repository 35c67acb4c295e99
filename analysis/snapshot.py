"""The paths of one commit and the contents of its closure. No I/O: whoever builds it has read the bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from analysis.notebook import ENDING as NOTEBOOK
from analysis.notebook import read_notebook
from analysis.source import NotAnalysed, Position, SourceFile, Span, read


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Snapshot:
    """``paths`` are all files of the commit, ``contents`` the bytes of those that were read; ``commit`` names it ("" for a folder)."""

    paths: frozenset[str]
    contents: Mapping[str, bytes]
    commit: str = ""
    #: By path and content: snapshots that stand beside each other share it.
    _parsed: dict[tuple[str, bytes], SourceFile | NotAnalysed] = field(default_factory=dict, repr=False)
    #: The Python files that are looked at of themselves, and not only where another imports them; None: all.
    _code: frozenset[str] | None = None

    @classmethod
    def of(cls, contents: Mapping[str, bytes], commit: str = "") -> Snapshot:
        """A snapshot whose every path was read."""
        return cls(frozenset(contents), contents, commit)

    def source(self, path: str) -> SourceFile | NotAnalysed:
        """The parsed file, parsed once."""
        raw = self.contents.get(path)
        if raw is None:
            return NotAnalysed(path, "its content was not read")
        known = self._parsed.get((path, raw))
        if known is None:
            known = self._parsed[path, raw] = _read(path, raw)
        return known

    def with_contents(self, changed: Mapping[str, bytes]) -> Snapshot:
        """The same commit with other bytes in some files; what was parsed of the others is kept."""
        return Snapshot(self.paths | frozenset(changed), {**self.contents, **changed}, self.commit, dict(self._parsed), self._code)

    def beside(self, other: Snapshot) -> Snapshot:
        """The same commit; files that are the same in ``other`` are parsed once for both."""
        return Snapshot(self.paths, self.contents, self.commit, other._parsed, self._code)

    def narrowed(self, code: frozenset[str]) -> Snapshot:
        """The same commit, of whose Python files only ``code``, and what these import, is looked at."""
        return Snapshot(self.paths, self.contents, self.commit, self._parsed, code)

    def seen_through(self, contents: Mapping[str, bytes]) -> Snapshot:
        """The same commit behind a view of its contents."""
        return Snapshot(self.paths, contents, self.commit, self._parsed, self._code)

    def position(self, span: Span) -> Position:
        """Lines and character columns of ``span``, in a file of any kind."""
        source = self.source(span.path)
        if isinstance(source, SourceFile):
            return source.position(span)
        raw = self.contents.get(span.path, b"")
        return Position(*_line_column(raw, span.start), *_line_column(raw, span.end))

    def python_paths(self) -> Iterator[str]:
        """Python files and notebooks whose content is at hand, sorted: the same commit gives the same order."""
        return (path for path in sorted(self.contents) if is_code(path) and (self._code is None or path in self._code))


def is_code(path: str) -> bool:
    """Whether the file holds Python: a module, a script or a notebook."""
    return path.endswith((".py", NOTEBOOK))


def _read(path: str, raw: bytes) -> SourceFile | NotAnalysed:
    return read_notebook(path, raw) if path.endswith(NOTEBOOK) else read(path, raw)


def _line_column(raw: bytes, offset: int) -> tuple[int, int]:
    before = raw[:offset]
    line_start = before.rfind(b"\n") + 1
    return before.count(b"\n") + 1, len(before[line_start:].decode("utf-8", "replace")) + 1
