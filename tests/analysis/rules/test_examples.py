"""Every rule flags its Bad examples where they say, its fix makes of them what they say, and its Good ones are left alone."""

import pytest

from analysis.engine import analyse
from analysis.finding import Finding, Safety
from analysis.fixes.apply import fixed
from analysis.rule import Bad, Good, Rule, discover
from analysis.snapshot import Snapshot

MARK = "# flagged"
EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.name}-{number}-{type(example).__name__}") for rule in discover() for number, example in enumerate(rule.examples)
]


def findings(rule: Rule, code: str) -> tuple[Snapshot, tuple[Finding, ...]]:
    snapshot = Snapshot.of({"train.py": code.encode()})
    report = analyse(snapshot, [rule])
    assert not report.problems
    assert not report.not_analysed
    return snapshot, report.findings


@pytest.mark.parametrize("rule", discover(), ids=lambda rule: rule.name)
def test_a_rule_shows_what_it_flags_and_what_it_leaves_alone(rule):
    kinds = [type(example) for example in rule.examples]
    assert kinds.count(Bad) >= 1
    assert kinds.count(Good) >= 2


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_example(rule, example):
    snapshot, found = findings(rule, example.code)
    lines = [number for number, line in enumerate(example.code.splitlines(), 1) if line.endswith(MARK)]
    assert [snapshot.position(finding.span).line for finding in found] == lines
    if isinstance(example, Bad):
        assert lines
        check_fix(snapshot, found, example)


def check_fix(snapshot: Snapshot, found: tuple[Finding, ...], example: Bad) -> None:
    if example.fixed is None:
        assert all(finding.fix is None and finding.no_fix_because for finding in found)
        return
    assert all(finding.fix for finding in found), [finding.no_fix_because for finding in found]
    patched = fixed(snapshot, found, frozenset(Safety))["train.py"].decode()
    assert "\n".join(line.removesuffix(MARK).rstrip() for line in patched.splitlines()) == example.fixed.rstrip("\n")
