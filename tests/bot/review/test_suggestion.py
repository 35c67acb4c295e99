"""A suggestion replaces whole lines of one hunk, and says exactly what the fix does."""

from __future__ import annotations

import pytest

from bot.review.diff import Hunk, hunks
from bot.review.located import LocatedEdit, LocatedFix
from bot.review.suggestion import Replacement, suggestible
from tests.bot.review.examples import TRAIN, edit, fix


def everywhere(_first: int, _last: int) -> bool:
    return True


def applied(content: bytes, replacement: Replacement) -> str:
    lines = content.decode().splitlines(keepends=True)
    return "".join(lines[: replacement.first - 1]) + replacement.text + "".join(lines[replacement.last :])


def edited(content: bytes, patch: LocatedFix) -> str:
    lines = content.decode().splitlines(keepends=True)

    def offset(line: int, column: int) -> int:
        return sum(map(len, lines[: line - 1])) + column - 1

    text = content.decode()
    for one in sorted(patch.edits, key=lambda each: (each.start_line, each.start_column), reverse=True):
        text = text[: offset(one.start_line, one.start_column)] + one.text + text[offset(one.end_line, one.end_column) :]
    return text


@pytest.mark.parametrize(
    ("edits", "lines"),
    [
        ((edit((9, 18), (9, 22), "loss.item()"),), (9, 9)),
        ((edit((7, 1), (7, 1), "        optimizer.zero_grad()\n"),), (7, 7)),
        ((edit((8, 1), (9, 1), ""),), (8, 8)),
        ((edit((6, 9), (8, 25), "step(model)"),), (6, 8)),
        ((edit((8, 25), (8, 25), "\n        optimizer.zero_grad()"),), (8, 8)),
        ((edit((4, 5), (4, 10), "loss_sum"), edit((9, 9), (9, 14), "loss_sum")), (4, 9)),
    ],
)
def test_replacement_equals_the_edits(edits: tuple[LocatedEdit, ...], lines: tuple[int, int]) -> None:
    patch = fix(*edits)
    replacement = suggestible(patch, TRAIN, everywhere)
    assert replacement is not None
    assert (replacement.first, replacement.last) == lines
    assert applied(TRAIN, replacement) == edited(TRAIN, patch)


def test_an_insertion_may_stand_on_the_line_above() -> None:
    patch = fix(edit((7, 1), (7, 1), "        optimizer.zero_grad()\n"))
    replacement = suggestible(patch, TRAIN, Hunk(4, 6).holds)
    assert replacement is not None
    assert (replacement.first, replacement.last) == (6, 6)
    assert applied(TRAIN, replacement) == edited(TRAIN, patch)


@pytest.mark.parametrize(
    ("patch", "content"),
    [
        (fix(edit((9, 18), (9, 22), "loss.item()")), TRAIN.replace(b"\n", b"\r\n")),
        (fix(edit((10, 5), (10, 17), "return 0")), TRAIN.rstrip(b"\n")),
        (fix(edit((9, 18), (9, 22), "loss")), TRAIN),
        (fix(edit((9, 18), (9, 22), "x\u202ey")), TRAIN),
        (fix(edit((9, 18), (9, 22), "a"), edit((9, 18), (9, 22), "b", "other.py")), TRAIN),
        (fix(edit((99, 1), (99, 1), "x\n")), TRAIN),
        (fix(edit((9, 18), (9, 22), "loss.item()")), b"\xff\xfe"),
    ],
    ids=["crlf", "no final newline", "changes nothing", "hides text", "two files", "beyond the end", "not UTF-8"],
)
def test_what_a_suggestion_cannot_say_is_not_one(patch: LocatedFix, content: bytes) -> None:
    assert suggestible(patch, content, everywhere) is None


def test_one_hunk_must_hold_all_lines() -> None:
    patch = fix(edit((4, 5), (4, 10), "loss_sum"), edit((9, 9), (9, 14), "loss_sum"))
    assert suggestible(patch, TRAIN, Hunk(4, 8).holds) is None


def test_hunks_are_read_from_a_patch() -> None:
    patch = "@@ -1,3 +1,4 @@ def f():\n a\n+b\n c\n d\n@@ -9 +10 @@\n-x\n+y\n@@ -20,2 +21,0 @@\n-gone\n-gone"
    assert hunks(patch) == (Hunk(1, 4), Hunk(10, 10))
