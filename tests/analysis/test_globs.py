"""Patterns of paths: what they reach, and that hostile ones stay cheap."""

from __future__ import annotations

import pytest

from analysis.globs import matches, matches_any


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("tests/test_a.py", "tests"),
        ("tests/test_a.py", "tests/"),
        ("pkg/tests/test_a.py", "tests"),
        ("pkg/model_old.py", "*_old.py"),
        ("src/a/generated/x.py", "src/**/generated/*.py"),
        ("src/generated/x.py", "src/**/generated/*.py"),
        ("src/a/b/x.py", "src/**"),
        ("src/a/b/x.py", "./src/a"),
        ("a/b.py", "**"),
        ("train.py", "/train.py"),
    ],
)
def test_matches(path: str, pattern: str) -> None:
    assert matches(path, pattern)


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("latests/test_a.py", "tests"),
        ("pkg/src/x.py", "src/x.py"),
        ("src", "src/**"),
        ("src/x.py", "src/*/x.py"),
        ("Train.py", "train.py"),
        ("train.py", ""),
    ],
)
def test_does_not_match(path: str, pattern: str) -> None:
    assert not matches(path, pattern)


def test_any_of_none_matches_nothing() -> None:
    assert not matches_any("a.py", ())


def test_a_hostile_pattern_is_cheap() -> None:
    path = "/".join(["a" * 40] * 200)
    assert not matches(path + "/b", "/".join(["**", "*a*a*a*a*a*"] * 60) + "/c")
