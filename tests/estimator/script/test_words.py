"""Values in words: the marks of what is unknown are taken off, operators stay."""

from __future__ import annotations

import pytest

from estimator.script.words import without_marks


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<item 0 of <x>>", "item 0 of x"),
        ("<<<a + <b…", "a + b…"),
        ("<<<<x", "x"),
        ("a < b", "a < b"),
        ("<n> <= 3", "n <= 3"),
        ("a << 2", "a << 2"),
        ("a >> <b>", "a >> b"),
        ("f -> g", "f -> g"),
    ],
)
def test_marks_go_and_operators_stay(written, read):
    assert without_marks(written) == read
