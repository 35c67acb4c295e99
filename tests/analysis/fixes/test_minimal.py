"""The edits between two texts give the second one, and touch no more than they must."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.fixes.minimal import Replacement, replacements

LINES = st.lists(st.sampled_from(["a = 1\n", "  a = 1\n", "\tbé = f(😀)\r\n", "\n", "x\r", "foo(bar)\n", "foo(baz)\n", "end"]), max_size=8).map("".join)


@given(LINES, LINES)
def test_the_edits_give_the_new_text(old, new):
    data, position, made = old.encode(), 0, b""
    for edit in replacements(old, new):
        assert edit.start >= position
        made += data[position : edit.start] + edit.text.encode()
        position = edit.end
    assert made + data[position:] == new.encode()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a\n", "a\n", []),
        ("a\nb\n", "a\nx\nb\n", [(2, 2, "x\n")]),
        ("a\nx\nb\n", "a\nb\n", [(2, 4, "")]),
        ("é = loss\n", "é = loss.item()\n", [(9, 9, ".item()")]),
        ("y = f(g(x), 1)\n", "y = g(x)\n", [(4, 14, "g(x)")]),
        ("f(shuffle=1)\n", "f(sampler=1)\n", [(2, 9, "sampler")]),
        ("a\nb\n", "  a\n  b\n", [(0, 0, "  "), (2, 2, "  ")]),
        ("a\nb\n", "with x:\n  a\n  b\n", [(0, 0, "with x:\n"), (0, 0, "  "), (2, 2, "  ")]),
    ],
)
def test_the_edits_are_small(old, new, expected):
    assert list(replacements(old, new)) == [Replacement(*edit) for edit in expected]
