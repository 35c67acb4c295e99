"""Keyword arguments come and go in the layout that the call has."""

import pytest

from analysis.fixes.change import RemoveArgument, SetArgument

pytestmark = pytest.mark.usefixtures("in_process")

VERTICAL = "def f():\n    x = ⟦Loader(\n        data,\n        size=4,  # four\n        shuffle=True,  # yes\n    )⟧\n"


def vertical(*lines: str) -> str:
    return "".join(["def f():\n    x = Loader(\n", *(f"        {line}\n" for line in lines), "    )\n"])


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("⟦f()⟧\n", "f(k=1)\n"),
        ("⟦f( )⟧\n", "f(k=1 )\n"),
        ("⟦f(a)⟧\n", "f(a, k=1)\n"),
        ("⟦f(a, b=2,)⟧\n", "f(a, b=2, k=1,)\n"),
        ("⟦f(a, k=3)⟧\n", "f(a, k=1)\n"),
        ("⟦f(a, k=(3))⟧\n", "f(a, k=1)\n"),
        ("⟦f(a, *b)⟧\n", "f(a, *b, k=1)\n"),
        ("⟦f((a))⟧\n", "f((a), k=1)\n"),
        ("⟦f(a,\n  b)⟧\n", "f(a,\n  b,\n  k=1)\n"),
        ("⟦f(\n    a\n)⟧\n", "f(\n    a,\n    k=1\n)\n"),
        ("⟦f(\n    a  # first\n)⟧\n", "f(\n    a,  # first\n    k=1\n)\n"),
        (VERTICAL, vertical("data,", "size=4,  # four", "shuffle=True,  # yes", "k=1,")),
        ("⟦f(a, **options)⟧\n", "no: the call passes **options that may hold k already"),
        ("⟦f(x for x in y)⟧\n", "no: the changed lines would not be valid Python"),
    ],
)
def test_an_argument_is_set(edited, code, expected):
    assert edited(code, lambda span: SetArgument(span, "k", "1")) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (VERTICAL, vertical("data,", "size=4,  # four", "sampler=s,  # yes")),
        ("⟦f(a, shuffle=x, drop=y)⟧\n", "f(a, sampler=s)\n"),
        ("⟦f(drop=y, shuffle=x, b=2)⟧\n", "f(sampler=s, b=2)\n"),
        ("⟦f(drop=y, sampler=x, shuffle=2)⟧\n", "f(sampler=s)\n"),
        ("⟦f(a)⟧\n", "f(a, sampler=s)\n"),
    ],
)
def test_an_argument_takes_the_place_of_others(edited, code, expected):
    assert edited(code, lambda span: SetArgument(span, "sampler", "s", ("shuffle", "drop"))) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("⟦f(k=1)⟧\n", "f()\n"),
        ("⟦f(a, k=1)⟧\n", "f(a)\n"),
        ("⟦f(a, k=1,)⟧\n", "f(a,)\n"),
        ("⟦f(k=1, b=2)⟧\n", "f(b=2)\n"),
        ("⟦f(a, k=1, b=2)⟧\n", "f(a, b=2)\n"),
        ("⟦f(\n    a,  # first\n    k=1,  # second\n    b=2,  # third\n)⟧\n", "f(\n    a,  # first\n    b=2,  # third\n)\n"),
        ("⟦f(\n    a,  # first\n    k=1,  # second\n)⟧\n", "f(\n    a,  # first\n)\n"),
        ("⟦f(\n    a,  # first\n    k=1  # second\n)⟧\n", "f(\n    a,  # first\n)\n"),
        ("⟦f(a)⟧\n", "no: the call does not write k"),
    ],
)
def test_an_argument_goes(edited, code, expected):
    assert edited(code, lambda span: RemoveArgument(span, "k")) == expected
