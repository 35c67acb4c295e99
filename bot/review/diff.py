"""The hunks of a pull request's diff: the only lines that a review comment may stand on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_HEADER = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Hunk:
    """The lines ``first``..``last`` of the new file, added and context alike: GitHub's side RIGHT."""

    first: int
    last: int

    def holds(self, first: int, last: int) -> bool:
        """Whether the lines ``first``..``last`` all stand in this hunk."""
        return self.first <= first and last <= self.last


@dataclass(frozen=True, slots=True)
class Diff:
    """Hunks by path of the new file. A path without hunks changed, but GitHub shows no text for it."""

    hunks: Mapping[str, tuple[Hunk, ...]]

    def holds(self, path: str, first: int, last: int) -> bool:
        """Whether one hunk of ``path`` holds the lines ``first``..``last``."""
        return any(hunk.holds(first, last) for hunk in self.hunks.get(path, ()))


def hunks(patch: str) -> tuple[Hunk, ...]:
    """The hunks of one file's ``patch``; those that only delete have no line on the right."""
    found = []
    for match in _HEADER.finditer(patch):
        first, length = int(match.group(1)), int(match.group(2) or 1)
        if length:
            found.append(Hunk(first, first + length - 1))
    return tuple(found)
