"""Diffs as tables: hunks of a file, the few lines above a comment, and a suggestion against what it replaces."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from simulator.git.hunks import Hunk, HunkLine, parse_hunks
from simulator.web.highlight import highlighted, language_of
from simulator.web.markup import Html, element

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulator.conversation import Anchor

    Below = Callable[[HunkLine], Html | None]

_LINES_ABOVE = 3
_KINDS = {"+": "added", "-": "removed", "\\": "no-newline"}


def hunks_table(path: str, patch: str, below: Below | None = None) -> Html:
    """All hunks of a file; `below` may put something under a line."""
    rows: list[Html] = []
    for hunk in parse_hunks(patch):
        rows.append(_header(hunk))
        for line in hunk.lines:
            rows.append(_row(line, language_of(path)))
            extra = None if below is None else below(line)
            if extra is not None:
                rows.append(element("tr.below", element("td", extra, colspan="3")))
    return element("div.diff-scroll", element("table.diff", element("tbody", rows)))


def excerpt_table(where: Anchor) -> Html | None:
    """The lines of a hunk that a comment is about, with three above; None for a comment on a whole file."""
    if not where.diff_hunk:
        return None
    lines = parse_hunks(where.diff_hunk)[0].lines
    first = len(lines) - 1
    if where.start_line is not None and where.start_side is not None:
        first = next(at for at, line in enumerate(lines) if line.number(where.start_side or where.side) == where.start_line)
    language = language_of(where.path)
    rows = [_row(line, language, commented=at >= first) for at, line in enumerate(lines) if at >= first - _LINES_ABOVE]
    return element("div.diff-scroll", element("table.diff", element("tbody", rows)))


def suggestion_table(path: str, old: Sequence[str], new: Sequence[str], first_line: int) -> Html:
    """What a suggestion removes and adds; lines without their ends, `first_line` is 1-based."""
    rows: list[Html] = []
    language = language_of(path)
    for kind, low, high, new_low, new_high in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            rows += [_row(HunkLine(f" {text}", first_line + low + at, first_line + new_low + at), language) for at, text in enumerate(old[low:high])]
            continue
        rows += [_row(HunkLine(f"-{text}", first_line + low + at, None), language) for at, text in enumerate(old[low:high])]
        rows += [_row(HunkLine(f"+{text}", None, first_line + new_low + at), language) for at, text in enumerate(new[new_low:new_high])]
    return element("div.diff-scroll", element("table.diff", element("tbody", rows)))


def commented_lines(where: Anchor) -> list[str]:
    """The text of the lines that a comment is about, on its side of the diff."""
    if not where.diff_hunk or where.line is None:
        return []
    first = where.start_line or where.line
    lines = parse_hunks(where.diff_hunk)[0].lines
    return [line.text[1:] for line in lines if (number := line.number(where.side)) is not None and first <= number <= where.line]


def _header(hunk: Hunk) -> Html:
    return element("tr.hunk", element("td.number", "…"), element("td.number", "…"), element("td.code", hunk.header))


def _row(line: HunkLine, language: str, *, commented: bool = False) -> Html:
    kind = _KINDS.get(line.text[:1], "context")
    text = line.text.rstrip("\r")
    marker = element("span.marker", text[:1] if kind in ("added", "removed") else " ")
    return element(
        f"tr.{kind}{'.commented' if commented else ''}",
        element("td.number", "" if line.left is None else str(line.left)),
        element("td.number", "" if line.right is None else str(line.right)),
        element("td.code", marker, highlighted(text[1:], language)),
    )
