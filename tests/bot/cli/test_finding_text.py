"""Findings on a terminal: the golden text, and sources that would break its layout."""

from __future__ import annotations

from dataclasses import replace

from analysis.snapshot import Snapshot
from bot.cli.excerpt import MAX_COLUMNS, Excerpt
from bot.cli.excerpt import render as excerpt
from bot.cli.finding_text import render
from bot.cli.terminal import Paint, Style, printable, width
from bot.review.located import LocatedFinding, locate
from tests.bot.cli.findings import FILES, retained_graph

PLAIN = Paint(enabled=False)


def _lines(path: str) -> list[str]:
    return FILES.get(path, b"").decode().split("\n")


def _located() -> LocatedFinding:
    snapshot = Snapshot.of(FILES)
    return locate(retained_graph(snapshot), snapshot)


def test_a_finding_reads_like_a_compilers() -> None:
    assert render(_located(), _lines, PLAIN).split("\n") == [
        "loop.py:6:2: error: `losses` keeps the graph of every step [retained-graph]",
        "     6 |     losses.append(loss)",
        "       |     ^^^^^^^^^^^^^^^^^^^",
        "  because",
        "  1. model.py:2: the loss carries its graph",
        "     2 |     return net(batch).mean()",
        "  2. loop.py:6: and outlives the step",
        "  fix: store a detached value",
    ]


def test_without_a_fix_it_says_why() -> None:
    finding = replace(_located(), fix=None, no_fix_because="a later backward may need the graph")

    assert render(finding, _lines, PLAIN).endswith("\n  no fix: a later backward may need the graph")


def test_evidence_that_repeats_the_finding_is_left_out() -> None:
    finding = _located()

    assert "because" not in render(replace(finding, evidence=finding.evidence[1:]), _lines, PLAIN)


def test_colours_frame_words_and_leave_them_whole() -> None:
    coloured = render(_located(), _lines, Paint(enabled=True))

    assert "\x1b[1;31merror\x1b[0m" in coloured
    assert "\x1b[" not in render(_located(), _lines, PLAIN)


def test_a_source_cannot_steer_the_terminal() -> None:
    hostile = "x = '\x1b[2J\u202e' # \x07"
    shown = "\n".join(excerpt(Excerpt(1, hostile, 1, 2), Style.RED, PLAIN))

    assert not set("\x1b\x07\u202e") & set(shown)
    assert printable("a\nb") == "a\\u000ab"


def test_the_underline_counts_wide_characters_twice() -> None:
    source, underline = excerpt(Excerpt(1, "名 = loss", 5, 9), Style.RED, PLAIN)

    assert width(source[: source.index("loss")]) == underline.index("^")
    assert underline.count("^") == 4


def test_a_long_line_is_cut_around_what_is_meant() -> None:
    line = "a" * 10_000 + "loss" + "b" * 10_000
    source, underline = excerpt(Excerpt(1, line, 10_001, 10_005), Style.RED, PLAIN)

    assert len(source) <= MAX_COLUMNS + 12
    assert source[underline.index("^") : underline.rindex("^") + 1] == "loss"


def test_a_line_that_is_all_meant_is_cut_too() -> None:
    source, underline = excerpt(Excerpt(1, "x" * 1000, 1, 1001), Style.RED, PLAIN)

    assert source.endswith("…")
    assert len(underline) <= MAX_COLUMNS + 12


def test_a_place_beyond_the_file_shows_no_source() -> None:
    assert render(replace(_located(), line=99, end_line=99), _lines, PLAIN).split("\n")[1] == "  because"
