"""What an estimate gives reason to report, and what it does not: a verdict that may fit, a growth within the intervals."""

import pytest

from analysis.certainty import Assumed, Known, Place
from analysis.finding import Confidence
from analysis.settings import Absolute, Relative
from analysis.snapshot import Snapshot
from estimator.estimate import Fit, Verdict
from estimator.findings import memory_rules
from estimator.findings.memory_regression import memory_regression
from estimator.findings.projected_oom import projected_oom
from tests.estimator.estimates import GIB, estimate, memory

SNAPSHOT = Snapshot.of({"train.py": b"import torch\n\nmodel = 1\n\nBATCH = 64\n", "model.py": b"\n" * 39 + b"    scores = q @ k\n"})
ANY = Relative(0.01)


def fit(verdict: Verdict) -> Fit:
    return Fit("T4", 15 * GIB, verdict)


def test_the_rules_have_pages_and_no_trace_to_ask() -> None:
    assert [rule.name for rule in memory_rules()] == ["memory-regression", "projected-oom"]
    assert all(rule.documentation for rule in memory_rules())


def test_what_does_not_fit_stands_on_the_line_that_set_what_moved() -> None:
    before = estimate(memory(10 * GIB), fits=(fit(Verdict.FITS),), batch_size=Known(8, Place("train.py", 5)))
    after = estimate(memory(30 * GIB), fits=(fit(Verdict.DOES_NOT_FIT),), batch_size=Known(64, Place("train.py", 5)))
    finding = projected_oom(before, after, SNAPSHOT)
    assert finding is not None
    assert SNAPSHOT.position(finding.span).line == 5
    assert "which has 15.0 GiB" in finding.message
    assert finding.evidence[0].says == "batch size was 8 and is 64"
    assert finding.evidence[-1].span.path == "model.py"
    assert finding.confidence is Confidence.HIGH
    assert finding.no_fix_because


def test_without_a_setting_that_moved_it_stands_on_the_line_that_holds_most() -> None:
    finding = projected_oom(None, estimate(memory(30 * GIB), fits=(fit(Verdict.DOES_NOT_FIT),)), SNAPSHOT)
    assert finding is not None
    assert (finding.span.path, SNAPSHOT.position(finding.span).line, SNAPSHOT.position(finding.span).column) == ("model.py", 40, 5)


@pytest.mark.parametrize("verdict", [Verdict.FITS, Verdict.BORDERLINE, Verdict.CANNOT_TELL])
def test_a_verdict_that_leaves_a_way_is_not_reported(verdict: Verdict) -> None:
    assert projected_oom(None, estimate(memory(14 * GIB, doubt=0.2), fits=(fit(verdict),)), SNAPSHOT) is None


def test_growth_beyond_both_intervals_is_a_regression() -> None:
    before = estimate(memory(10 * GIB, doubt=0.05), precision=Known("bf16", Place("train.py", 3)))
    after = estimate(memory(14 * GIB, doubt=0.05), precision=Known("fp32", Place("train.py", 3)))
    finding = memory_regression(before, after, SNAPSHOT, ANY)
    assert finding is not None
    assert SNAPSHOT.position(finding.span).line == 3
    assert "4.0 GiB more" in finding.message
    assert memory_regression(after, before, SNAPSHOT, ANY) is None


def test_growth_within_the_intervals_or_below_the_threshold_is_none() -> None:
    before, after = estimate(memory(10 * GIB, doubt=0.2)), estimate(memory(12 * GIB, doubt=0.2))
    assert memory_regression(before, after, SNAPSHOT, ANY) is None
    assert memory_regression(estimate(memory(10 * GIB)), estimate(memory(12 * GIB)), SNAPSHOT, Absolute(4 * GIB)) is None


def test_a_size_that_had_to_be_assumed_on_one_side_says_nothing_about_growth() -> None:
    before = estimate(memory(10 * GIB), sequence_length=Known(512, Place("train.py", 3)))
    after = estimate(memory(14 * GIB), sequence_length=Assumed(1024, "nobody says"))
    assert memory_regression(before, after, SNAPSHOT, ANY) is None
    assert memory_regression(before, estimate(None), SNAPSHOT, ANY) is None
