"""Hunks of a unified diff, and the places in them that a comment can be anchored to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Side = Literal["LEFT", "RIGHT"]

_HEADER = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class HunkLine:
    """One line of a hunk. `left` and `right` are 1-based line numbers, None on the side that lacks the line."""

    text: str
    left: int | None
    right: int | None

    def number(self, side: Side) -> int | None:
        """The line's number on a side, None where it cannot be commented on from that side."""
        return self.left if side == "LEFT" else self.right


@dataclass(frozen=True, slots=True)
class Hunk:
    """A hunk: its header and lines. `position` is the diff position of its header, 0 for the first one."""

    header: str
    position: int
    lines: tuple[HunkLine, ...]

    def index(self, side: Side, line: int) -> int | None:
        """Which of the hunk's lines has that number on that side."""
        return next((at for at, one in enumerate(self.lines) if one.number(side) == line), None)

    def text_until(self, index: int) -> str:
        """The hunk down to one of its lines: what GitHub keeps as a comment's `diff_hunk`."""
        return "\n".join([self.header, *(line.text for line in self.lines[: index + 1])])


def parse_hunks(patch: str) -> tuple[Hunk, ...]:
    """The hunks of one file's patch, in order."""
    texts = patch.split("\n")
    starts = [at for at, text in enumerate(texts) if text.startswith("@@ ")]
    return tuple(_hunk(start, texts[start:end]) for start, end in zip(starts, [*starts[1:], len(texts)], strict=True))


def _hunk(position: int, texts: list[str]) -> Hunk:
    header = _HEADER.match(texts[0])
    if header is None:
        raise ValueError(f"not a hunk header: {texts[0]!r}")
    left, right = int(header[1]), int(header[3])
    lines = []
    for text in texts[1:]:
        match text[:1]:
            case "+":
                lines.append(HunkLine(text, None, right))
                right += 1
            case "-":
                lines.append(HunkLine(text, left, None))
                left += 1
            case "\\":
                lines.append(HunkLine(text, None, None))
            case _:
                lines.append(HunkLine(text, left, right))
                left, right = left + 1, right + 1
    return Hunk(texts[0], position, tuple(lines))


def current_line(patch: str | None, line: int) -> int | None:
    """Where a line of the older file stands in the newer one; None when the change touched it.

    `patch` is the difference of the file from the older to the newer commit, None when there is none.
    """
    if patch is None:
        return line
    shift = 0
    for hunk in parse_hunks(patch):
        numbered = [one.left for one in hunk.lines if one.left is not None]
        if numbered and line < numbered[0]:
            break
        if line in numbered:
            return next(one.right for one in hunk.lines if one.left == line)
        if not numbered and line <= int(hunk.header.split(" ")[1].lstrip("-").split(",")[0]):
            break
        shift += sum(one.text.startswith("+") for one in hunk.lines)
        shift -= sum(one.text.startswith("-") for one in hunk.lines)
    return line + shift
