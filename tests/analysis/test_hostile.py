"""Files made to break a reader: each is read or passed over with a reason, and nothing beside it is harmed."""

import sys

import pytest

from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed, SourceFile

NEIGHBOUR = b"import torch\n\nx = torch.ones(1)\n"

TOWERS = {
    "parentheses": b"x = " + b"(" * 5_000 + b"1" + b")" * 5_000,
    "brackets": b"x = " + b"a[" * 5_000 + b"1" + b"]" * 5_000,
    "minuses": b"x = " + b"-" * 20_000 + b"1",
    "nots": b"x = " + b"not " * 20_000 + b"1",
    "sum": b"x = " + b" + ".join([b"a"] * 20_000),
    "ones": b"x = 1" + b" + 1" * 9_000,
    "powers": b"x = 1" + b"**1" * 9_000,
    "unions": b"x: " + b"a|" * 9_000 + b"b",
    "attributes": b"x = a" + b".b" * 400_000,
    "calls": b"x = a" + b"()" * 2_000,
    "lambdas": b"x = " + b"lambda: " * 5_000 + b"1",
    "conditions": b"x = " + b"1 if a else " * 5_000 + b"1",
    "elifs": b"if a: pass\n" + b"elif a: pass\n" * 20_000,
    "indentation": b"".join(b" " * depth + b"if a:\n" for depth in range(150)),
    "ten megabytes": b"x = 1\n" * 1_700_000,
}

LONG = {
    "elifs": b"if a: pass\n" + b"elif a: pass\n" * 2_000,
    "literal": b"x = [" + b"123456, " * 100_000 + b"]\n",
    "strings": b"x = " + b"'a' " * 3_000 + b"\n",
    "comparisons": b"x = 1" + b" < 1" * 20_000 + b"\n",
    "blocks": b"".join(b" " * depth + b"if a:\n" for depth in range(99)) + b" " * 99 + b"pass\n",
    "one line": b"x = 1;" * 20_000 + b"\n",
    "decorators": b"@a\n" * 5_000 + b"def f(): pass\n",
}


@pytest.mark.parametrize("name", TOWERS)
def test_a_tower_is_passed_over(name):
    snapshot = Snapshot.of({"a.py": NEIGHBOUR, "tower.py": TOWERS[name], "z.py": NEIGHBOUR})
    refused = snapshot.source("tower.py")
    assert isinstance(refused, NotAnalysed)
    assert refused.reason
    assert isinstance(snapshot.source("a.py"), SourceFile)
    assert isinstance(snapshot.source("z.py"), SourceFile)


@pytest.mark.parametrize("name", LONG)
def test_a_long_file_is_read(name):
    assert isinstance(Snapshot.of({"long.py": LONG[name]}).source("long.py"), SourceFile)


def test_a_raised_recursion_limit_does_not_reach_the_parser():
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(1_000_000)
        assert isinstance(Snapshot.of({"a.py": TOWERS["attributes"]}).source("a.py"), NotAnalysed)
        assert sys.getrecursionlimit() == 1_000_000
    finally:
        sys.setrecursionlimit(limit)


def test_a_file_is_read_from_deep_within():
    def descend(depth: int) -> SourceFile | NotAnalysed:
        return descend(depth - 1) if depth else Snapshot.of({"a.py": NEIGHBOUR}).source("a.py")

    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(20_000)
        assert isinstance(descend(9_000), SourceFile)
    finally:
        sys.setrecursionlimit(limit)
