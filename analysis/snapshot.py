"""The paths of one commit and the contents of its closure. No I/O: whoever builds it has read the bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from analysis.notebook import ENDING as NOTEBOOK
from analysis.notebook import read_notebook
from analysis.source import NotAnalysed, Position, SourceFile, Span, read


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """``paths`` are all files of the commit, ``contents`` the bytes of those that were read; ``commit`` names it ("" for a folder)."""

    paths: frozenset[str]
    contents: Mapping[str, bytes]
    commit: str = ""
    _parsed: dict[str, SourceFile | NotAnalysed] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, contents: Mapping[str, bytes], commit: str = "") -> Snapshot:
        """A snapshot whose every path was read."""
        return cls(frozenset(contents), contents, commit)

    def source(self, path: str) -> SourceFile | NotAnalysed:
        """The parsed file, parsed once."""
        if path not in self._parsed:
            raw = self.contents.get(path)
            self._parsed[path] = NotAnalysed(path, "its content was not read") if raw is None else _read(path, raw)
        return self._parsed[path]

    def with_contents(self, changed: Mapping[str, bytes]) -> Snapshot:
        """The same commit with other bytes in some files; what was parsed of the others is kept."""
        kept = {path: parsed for path, parsed in self._parsed.items() if path not in changed}
        return Snapshot(self.paths | frozenset(changed), {**self.contents, **changed}, self.commit, kept)

    def position(self, span: Span) -> Position:
        """Lines and character columns of ``span``, in a file of any kind."""
        source = self.source(span.path)
        if isinstance(source, SourceFile):
            return source.position(span)
        raw = self.contents.get(span.path, b"")
        return Position(*_line_column(raw, span.start), *_line_column(raw, span.end))

    def python_paths(self) -> Iterator[str]:
        """Python files and notebooks whose content is at hand, sorted: the same commit gives the same order."""
        return (path for path in sorted(self.contents) if is_code(path))


def is_code(path: str) -> bool:
    """Whether the file holds Python: a module, a script or a notebook."""
    return path.endswith((".py", NOTEBOOK))


def _read(path: str, raw: bytes) -> SourceFile | NotAnalysed:
    return read_notebook(path, raw) if path.endswith(NOTEBOOK) else read(path, raw)


def _line_column(raw: bytes, offset: int) -> tuple[int, int]:
    before = raw[:offset]
    line_start = before.rfind(b"\n") + 1
    return before.count(b"\n") + 1, len(before[line_start:].decode("utf-8", "replace")) + 1
