"""The lines that a terminal shows beside a finding: those of a file, or of a cell of a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from analysis.snapshot import Snapshot
from analysis.source import SourceFile
from bot.cli.finding_text import Lines
from bot.review.located import named


def lines_of(snapshot: Snapshot, names: Mapping[str, str]) -> Lines:
    """The lines of the files in ``names`` (path in the snapshot: name that findings give it), by that name and by those of its cells."""
    found: dict[str, Sequence[str]] = {}
    for path, name in names.items():
        source = snapshot.source(path)
        if isinstance(source, SourceFile) and source.cells:
            ends = (*(cell.start for cell in source.cells), len(source.content))
            for cell, (start, end) in zip(source.cells, pairwise(ends), strict=True):
                found[named(name, cell.number)] = _lines(source.content[start:end])
        else:
            found[name] = _lines(source.content if isinstance(source, SourceFile) else snapshot.contents.get(path, b""))
    return lambda name: found.get(name, ())


def _lines(content: bytes) -> list[str]:
    return [line.decode("utf-8", "replace") for line in content.splitlines()]
