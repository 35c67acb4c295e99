"""A line of source with what is meant underlined, as compilers show it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.cli.terminal import Paint, Style, printable, width

#: Columns of source shown; a longer line is cut around what is meant.
MAX_COLUMNS = 140
_GUTTER = 6


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The columns ``start``–``end`` (1-based, characters, end exclusive) of ``text``, which is line ``line`` of its file."""

    line: int
    text: str
    start: int
    end: int


def render(excerpt: Excerpt, style: Style, paint: Paint) -> list[str]:
    """The line and the underline below it."""
    before, meant, after = _cut(excerpt)
    bar = paint("|", Style.DIM)
    underline = " " * width(before) + paint("^" * max(width(meant), 1), style)
    return [f"{excerpt.line:>{_GUTTER}} {bar} {before}{meant}{after}".rstrip(), f"{'':{_GUTTER}} {bar} {underline}"]


def plain(line: int, text: str, paint: Paint) -> str:
    """The line without an underline."""
    shown = printable(text.rstrip())
    shown = shown if len(shown) <= MAX_COLUMNS else shown[: MAX_COLUMNS - 1] + "…"
    return f"{line:>{_GUTTER}} {paint('|', Style.DIM)} {paint(shown, Style.DIM)}".rstrip()


def _cut(excerpt: Excerpt) -> tuple[str, str, str]:
    """The line in three, printable and at most MAX_COLUMNS long; spaces around what is meant are not underlined."""
    text = excerpt.text.rstrip("\r\n")
    before, meant, after = text[: excerpt.start - 1], text[excerpt.start - 1 : excerpt.end - 1], text[excerpt.end - 1 :]
    if len(text) > MAX_COLUMNS:
        meant = meant if len(meant) <= MAX_COLUMNS else meant[: MAX_COLUMNS - 1] + "…"
        room = MAX_COLUMNS - len(meant)
        before = before if len(before) <= room // 2 else "…" + before[len(before) - room // 2 :]
        after = after if len(after) <= room - len(before) else after[: max(room - len(before), 0)] + "…"
    return printable(before), printable(meant), printable(after)
