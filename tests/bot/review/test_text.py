"""Text of the repository is shown, and does nothing."""

from __future__ import annotations

import pytest

from bot.review.text import cell, code, fenced, plain, prose, visible


@pytest.mark.parametrize(
    "active", ["@team", "fixes #12", "GH-12", "https://evil.example", "www.evil.example", "owner/repo#3", "0123456789abcdef", "me@mail.example"]
)
def test_references_are_broken(active: str) -> None:
    shown = plain(active)
    assert "\u200b" in shown
    assert active not in shown.replace("\\", "")
    assert shown.replace("\u200b", "").replace("\\", "") == active


@pytest.mark.parametrize(
    "markup", ["<img src=x>", "<!-- preflight:memory -->", "![x](y)", "[a](b)", "**bold**", "`tick", "| a | b |", "# title", "- item", "1 < 2 & 3"]
)
def test_markup_is_escaped(markup: str) -> None:
    shown = plain(markup)
    for position, character in enumerate(shown):
        if character in "<>`*[]|#&":
            assert shown[position - 1] == "\\"


def test_characters_that_hide_are_spelled_out() -> None:
    assert visible("a\u202eb\x1b[31m\x00\ud800") == "aU+202EbU+001B[31mU+0000\N{REPLACEMENT CHARACTER}"
    assert visible("one\r\n  two\u2028three") == "one two three"


@pytest.mark.parametrize(("text", "span"), [("loss", "`loss`"), ("a`b", "``a`b``"), ("``a", "``` ``a ```"), ("", "` `"), ("a\nb", "`a b`")])
def test_code_cannot_be_closed_from_inside(text: str, span: str) -> None:
    assert code(text) == span


def test_prose_keeps_code_and_escapes_the_rest() -> None:
    assert prose("`self.x` pings @you in <b>") == "`self.x` pings @\u200byou in \\<b\\>"
    assert prose("``a`b`` stays") == "``a`b`` stays"
    assert prose("an unclosed ` tick") == "an unclosed \\` tick"


@pytest.mark.parametrize(("markdown", "inside"), [("`a|b`", "`a\\|b`"), ("a\\|b", "a\\|b"), ("a\\\\|b", "a\\\\\\|b")])
def test_pipes_do_not_end_a_cell(markdown: str, inside: str) -> None:
    assert cell(markdown) == inside


def test_fence_is_longer_than_any_inside() -> None:
    assert fenced('x = """\n````\n"""\n', "suggestion") == '`````suggestion\nx = """\n````\n"""\n`````'
    assert fenced("", "suggestion") == "```suggestion\n```"
