"""Programs with ``{kept}`` in them: one way to fill it is wrong, another is right, and the line that ends in ``# here`` is where the wrong one is reported."""

from __future__ import annotations

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot


def lines_of(rule: str, program: str) -> list[int]:
    """The lines on which the rule reports something."""
    rules = [each for each in discover() if each.name == rule]
    snapshot = Snapshot.of({"train.py": program.encode()})
    return [program.encode()[: finding.span.start].count(b"\n") + 1 for finding in analyse(snapshot, rules).findings]


def assert_told_apart(rule: str, program: str, wrong: str, right: str) -> None:
    """The wrong one is reported in its place, the right one not at all."""
    place = next(number for number, line in enumerate(program.splitlines(), 1) if line.endswith("# here"))
    assert lines_of(rule, program.replace("{kept}", wrong)) == [place]
    assert lines_of(rule, program.replace("{kept}", right)) == []
