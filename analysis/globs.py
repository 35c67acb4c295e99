"""Patterns of paths, as configuration writes them: ``tests``, ``*_old.py``, ``src/**/generated/*.py``.

A pattern without a slash inside matches the name of a file or folder anywhere, one with a slash counts from the
root; ``**`` stands for any number of folders; a folder that matches stands for everything below it. Matching takes
time in proportion to pattern times path, whatever either holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase


def matches_any(path: str, patterns: Iterable[str]) -> bool:
    """Whether ``path`` (with ``/``) matches one of ``patterns``."""
    return any(matches(path, pattern) for pattern in patterns)


def matches(path: str, pattern: str) -> bool:
    """Whether ``path``, or a folder that holds it, matches ``pattern``."""
    anchored = "/" in pattern.rstrip("/")
    wanted = [part for part in pattern.removeprefix("./").strip("/").split("/") if part]
    if not wanted:
        return False
    if not anchored:
        wanted = ["**", *wanted]
    reached = _closed({0}, wanted)
    for name in path.split("/"):
        reached = _closed(_advanced(reached, wanted, name), wanted)
        if len(wanted) in reached:
            return True
    return False


def _advanced(reached: set[int], wanted: list[str], name: str) -> set[int]:
    """Where in the pattern the folder or file ``name`` leads."""
    after = set()
    for at in reached:
        if at == len(wanted):
            continue
        if wanted[at] == "**":
            after.add(at)
            if at + 1 == len(wanted):
                after.add(at + 1)
        elif fnmatchcase(name, wanted[at]):
            after.add(at + 1)
    return after


def _closed(reached: set[int], wanted: list[str]) -> set[int]:
    """``reached`` with every place that a ``**`` which stands for nothing leads to."""
    closed = set(reached)
    for at in sorted(reached):
        place = at
        while place < len(wanted) and wanted[place] == "**" and place + 1 < len(wanted):
            place += 1
            closed.add(place)
    return closed
