"""Where lines go when a file changes."""

from __future__ import annotations

import difflib
import random

import pytest

from simulator.git.hunks import current_line, parse_hunks

PATCH = "@@ -2,3 +2,4 @@ def f\n a\n-b\n+B\n+C\n c\n@@ -10,0 +12,1 @@\n+new\n@@ -20,2 +22,1 @@\n-gone\n e\n\\ No newline at end of file"


def test_lines_are_numbered_on_both_sides() -> None:
    first = parse_hunks(PATCH)[0]

    assert [(line.text, line.left, line.right) for line in first.lines] == [(" a", 2, 2), ("-b", 3, None), ("+B", None, 3), ("+C", None, 4), (" c", 4, 5)]
    assert [hunk.position for hunk in parse_hunks(PATCH)] == [0, 6, 8]


@pytest.mark.parametrize(
    ("line", "now"),
    [(1, 1), (2, 2), (3, None), (4, 5), (5, 6), (10, 11), (11, 13), (19, 21), (20, None), (21, 22), (30, 31)],
)
def test_a_line_moves_with_what_is_added_above_it(line: int, now: int | None) -> None:
    assert current_line(PATCH, line) == now


def test_a_file_that_did_not_change_keeps_its_lines() -> None:
    assert current_line(None, 7) == 7


@pytest.mark.parametrize("seed", range(20))
def test_moved_lines_hold_the_same_text(seed: int) -> None:
    chance = random.Random(seed)
    old = [f"line {number}" for number in range(40)]
    new = [line for line in old if chance.random() > 0.15]
    for _ in range(5):
        new.insert(chance.randrange(len(new)), f"new {chance.random()}")
    patch = "\n".join(line.rstrip("\n") for line in list(difflib.unified_diff(old, new, lineterm="", n=seed % 4))[2:])

    moved = {number: current_line(patch, number) for number in range(1, 41)}

    for number, now in moved.items():
        assert (now is None) == (old[number - 1] not in new)
        assert now is None or new[now - 1] == old[number - 1]
