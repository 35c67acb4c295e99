"""A fix as the replacement of whole lines, which is all that a suggestion block can say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from bot.review.located import LocatedEdit, LocatedFix
from bot.review.text import has_hidden_characters


@dataclass(frozen=True, slots=True)
class Replacement:
    """``text`` (each line with its newline; "" deletes) stands in for the lines ``first``..``last`` of ``path``."""

    path: str
    first: int
    last: int
    text: str


def suggestible(fix: LocatedFix, content: bytes, holds: Callable[[int, int], bool]) -> Replacement | None:
    """``fix`` as one replacement inside the diff, or None where a suggestion could not say it faithfully.

    ``content`` is the file of the head commit; ``holds(first, last)`` whether one hunk shows those lines.
    Files with CRLF ends are left out, as is a last line without newline: what GitHub does to them when it
    applies a suggestion is not documented. So are lines with characters that hide what they do.
    """
    if len({edit.path for edit in fix.edits}) != 1 or b"\r" in content:
        return None
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        return None
    for replacement in _candidates(fix.edits, lines):
        unterminated = replacement.last >= len(lines)
        if not unterminated and holds(replacement.first, replacement.last):
            return replacement if _worth_offering(replacement, lines) else None
    return None


def _worth_offering(replacement: Replacement, lines: list[str]) -> bool:
    unchanged = "".join(line + "\n" for line in lines[replacement.first - 1 : replacement.last])
    return replacement.text != unchanged and not has_hidden_characters(replacement.text)


def as_lines(fix: LocatedFix, content: bytes) -> str | None:
    """The lines that the fix leaves, for a reader who applies it by hand; None where it spans several files."""
    if len({edit.path for edit in fix.edits}) != 1:
        return None
    lines = content.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    candidates = _candidates(fix.edits, lines)
    return candidates[0].text if candidates else None


def _candidates(edits: tuple[LocatedEdit, ...], lines: list[str]) -> list[Replacement]:
    """The replacement of the touched lines; then, for lines put in front of one, the same said of the line above."""
    ordered = sorted(edits, key=lambda edit: (edit.start_line, edit.start_column))
    first = ordered[0].start_line
    last = max(_last_line(edit) for edit in ordered)
    if first < 1 or last > len(lines) or _overlap(ordered):
        return []
    text = _applied(ordered, lines, first, last)
    found = [Replacement(edits[0].path, first, last, text)]
    only = ordered[0]
    if len(ordered) == 1 and first > 1 and _inserts_lines(only):
        found.append(Replacement(only.path, first - 1, first - 1, f"{lines[first - 2]}\n{only.text}"))
    return found


def _applied(edits: list[LocatedEdit], lines: list[str], first: int, last: int) -> str:
    """The text of lines ``first``..``last`` after the edits, later ones first so that columns stay true."""
    block = "".join(line + "\n" for line in lines[first - 1 : last])
    starts = [0]
    for line in lines[first - 1 : last]:
        starts.append(starts[-1] + len(line) + 1)
    for edit in reversed(edits):
        start = starts[edit.start_line - first] + edit.start_column - 1
        end = starts[edit.end_line - first] + edit.end_column - 1
        block = block[:start] + edit.text + block[end:]
    return block


def _last_line(edit: LocatedEdit) -> int:
    """The last line that the edit touches: one that ends at the start of a line leaves that line alone if it keeps whole lines."""
    leaves_next_line = edit.end_column == 1 and edit.end_line > edit.start_line
    keeps_whole_lines = edit.text.endswith("\n") or (edit.text == "" and edit.start_column == 1)
    return edit.end_line - 1 if leaves_next_line and keeps_whole_lines else edit.end_line


def _inserts_lines(edit: LocatedEdit) -> bool:
    at_line_start = edit.start_column == edit.end_column == 1 and edit.start_line == edit.end_line
    return at_line_start and edit.text.endswith("\n")


def _overlap(ordered: list[LocatedEdit]) -> bool:
    pairs = pairwise(ordered)
    return any((before.end_line, before.end_column) > (after.start_line, after.start_column) for before, after in pairs)
