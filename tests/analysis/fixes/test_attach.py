"""A fix is offered only if the edited program, analysed again, no longer has the finding and has no other."""

import re
from collections.abc import Callable, Iterator

import pytest

from analysis.finding import Confidence, Edit, Evidence, Finding, Fix, Safety, Severity
from analysis.fixes import attach as attaching
from analysis.fixes.apply import fixed
from analysis.fixes.attach import attach
from analysis.fixes.change import Change, InsertBefore, Proposal, Reported, WrapExpression
from analysis.snapshot import Snapshot
from analysis.source import Span

pytestmark = pytest.mark.usefixtures("in_process")


def finding(rule: str, path: str, start: int, end: int) -> Finding:
    span = Span(path, start, end)
    return Finding(rule, Severity.ERROR, Confidence.HIGH, span, "message", (Evidence(span, "here"),))


def found(snapshot: Snapshot) -> Iterator[Finding]:
    """Three rules of a toy: ``bad`` names are bad, ``worse`` ones too, and so is a file that holds ``item`` twice on a line."""
    for path in snapshot.python_paths():
        text = snapshot.contents[path].decode()
        for match in re.finditer(r"\b(bad|worse)\b(?!\.item)|item.*item", text):
            yield finding(match[1] or "twice", path, match.start(), match.end())


def reported(snapshot: Snapshot, change: Callable[[Span], Change]) -> list[Reported]:
    return [Reported(each, Proposal("fix", Safety.SAFE, (change(each.span),))) for each in found(snapshot)]


class Analysis:
    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, snapshot: Snapshot) -> list[Finding]:
        self.runs += 1
        return list(found(snapshot))


def item(span: Span) -> Change:
    return WrapExpression(span, after=".item()")


def test_what_holds_together_is_analysed_once():
    snapshot = Snapshot.of({"a.py": b"x = bad\ny = bad\n", "b.py": b"z = worse\n"})
    analysis = Analysis()
    findings = attach(reported(snapshot, item), snapshot, analysis)
    assert [each.fix.edits for each in findings] == [
        (Edit(Span("a.py", 7, 7), ".item()"),),
        (Edit(Span("a.py", 15, 15), ".item()"),),
        (Edit(Span("b.py", 9, 9), ".item()"),),
    ]
    assert analysis.runs == 1
    assert fixed(snapshot, findings) == {"a.py": b"x = bad.item()\ny = bad.item()\n", "b.py": b"z = worse.item()\n"}


def test_a_finding_that_stays_gets_no_fix():
    snapshot = Snapshot.of({"a.py": b"x = bad\ny = bad\n"})
    first, second = attach(reported(snapshot, lambda span: WrapExpression(span, after=".item()" if span.start < 5 else ".data")), snapshot, Analysis())
    assert first.fix is not None
    assert (second.fix, second.no_fix_because) == (None, "its fix was tried and the finding stays")


def test_a_fix_that_brings_another_finding_is_not_offered():
    snapshot = Snapshot.of({"a.py": b"x = bad\n\ny = item, bad\n"})
    first, second = attach(reported(snapshot, item), snapshot, Analysis())
    assert first.fix is not None
    assert second.no_fix_because == "its fix was tried and brings twice in line 3 of a.py"


def test_fixes_that_bring_a_finding_only_together_are_offered_alone():
    snapshot = Snapshot.of({"a.py": b"x = bad, bad\n"})
    findings = attach(reported(snapshot, item), snapshot, Analysis())
    assert all(each.fix for each in findings)


def test_findings_that_move_with_an_edit_are_not_new():
    snapshot = Snapshot.of({"a.py": b"x = bad, worse\nz = worse\n"})
    proposed = [
        Reported(each, Proposal("fix", Safety.SAFE, (item(each.span), InsertBefore(Span("a.py", 0, 14), ("import a",)))) if each.rule == "bad" else None)
        for each in found(snapshot)
    ]
    bad, *worse = attach(proposed, snapshot, Analysis())
    assert bad.fix is not None
    assert [each.no_fix_because for each in worse] == [None, None]


def test_fixes_in_one_place_are_tried_apart():
    snapshot = Snapshot.of({"a.py": b"x = bad\n"})
    (one,) = reported(snapshot, item)
    analysis = Analysis()
    findings = attach([one, one], snapshot, analysis)
    assert analysis.runs == 2
    assert all(each.fix for each in findings)


def test_a_fix_of_the_rule_s_own_is_tried_too():
    snapshot = Snapshot.of({"a.py": b"x = bad\n"})
    (plain,) = found(snapshot)
    good = Fix("fix", Safety.REVIEW, (Edit(plain.span, "good"),))
    useless = Fix("fix", Safety.REVIEW, (Edit(plain.span, "(bad)"),))
    broken = Fix("fix", Safety.REVIEW, (Edit(plain.span, "good ="),))
    for own, because in ((good, None), (useless, "its fix was tried and the finding stays"), (broken, "its fix was tried and leaves a.py not valid Python")):
        carrying = Finding(plain.rule, plain.severity, plain.confidence, plain.span, plain.message, plain.evidence, fix=own)
        (tried,) = attach([Reported(carrying)], snapshot, Analysis())
        assert tried.fix == (own if because is None else None)
        assert (tried.no_fix_because or "").startswith(because or "")


def test_a_change_that_cannot_be_made_is_said():
    snapshot = Snapshot.of({"a.py": b"# coding: latin-1\nx = bad\n"})
    (first,) = attach(reported(snapshot, item), snapshot, Analysis())
    assert first.no_fix_because == "its fix cannot be made: a.py is encoded in iso8859-1, and only UTF-8 is edited"


def test_the_reason_of_a_rule_is_kept():
    snapshot = Snapshot.of({"a.py": b"x = bad\n"})
    plain = finding("bad", "a.py", 4, 7)
    said = Finding(plain.rule, plain.severity, plain.confidence, plain.span, plain.message, plain.evidence, no_fix_because="it is meant so")
    assert attach([Reported(said)], snapshot, Analysis()) == (said,)


def test_trials_are_bounded(monkeypatch):
    monkeypatch.setattr(attaching, "MAX_TRIALS", 4)
    snapshot = Snapshot.of({"a.py": b"x = bad\n" * 16})
    analysis = Analysis()
    findings = attach(reported(snapshot, lambda span: WrapExpression(span, after=".data")), snapshot, analysis)
    assert analysis.runs == 4
    assert {each.no_fix_because for each in findings} == {"its fix was not tried: more than 4 trials were needed"}
