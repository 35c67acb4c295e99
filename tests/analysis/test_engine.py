"""From a snapshot to a report: one finding a place, in scope, unless silenced; failures are told, never raised."""

import pytest

from analysis.engine import analyse
from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.report import Report
from analysis.rule import Rule, discover
from analysis.snapshot import Snapshot
from analysis.source import Span

TRAIN = """
import torch
from meters import Meter

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    meter = Meter()
    for epoch in range(3):
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            meter.update(loss)
    print(meter.sum)
"""
METERS = """
class Meter:
    def __init__(self):
        self.sum = 0

    def update(self, value):
        self.sum += value
"""


def report(train: str = TRAIN, **options) -> Report:
    files = {"train.py": train, "meters.py": METERS, "broken.py": "import torch\ndef f(:\n", "plain.py": "print(1)\n"}
    return analyse(Snapshot.of({path: code.encode() for path, code in files.items()}), discover(), **options)


def places(found: Report) -> list[tuple[str, str, int]]:
    snapshot = Snapshot.of({"train.py": TRAIN.encode(), "meters.py": METERS.encode()})
    return [(finding.rule, finding.span.path, snapshot.position(finding.span).line) for finding in found.findings]


def test_findings_are_once_a_place_and_in_order():
    found = report()
    assert places(found) == [("missing-zero-grad", "train.py", 11), ("retained-graph", "train.py", 13)]
    assert len({finding.fingerprint for finding in found.findings}) == 2
    assert [finding.function for finding in found.findings] == ["train", "train"]
    assert found.files == 3
    assert found.rules == len(discover())


def test_evidence_crosses_files():
    retained = report().findings[1]
    assert {step.span.path for step in retained.evidence} == {"train.py", "meters.py"}


def test_the_same_snapshot_gives_the_same_report():
    assert report() == report()


def test_a_broken_file_is_told_and_stops_nothing():
    assert [failed.path for failed in report().not_analysed] == ["broken.py"]


@pytest.mark.parametrize(("paths", "expected"), [(["meters.py"], []), (["train.py"], ["missing-zero-grad", "retained-graph"])])
def test_findings_count_only_in_the_paths_asked_for(paths, expected):
    assert [finding.rule for finding in report(paths=paths).findings] == expected


def test_a_finding_counts_whose_evidence_stands_in_a_changed_file():
    evident = ("retained-graph", "train.py", 13)
    assert evident not in places(report(paths=["plain.py"], entries=["train.py"]))
    assert evident in places(report(paths=["plain.py"], entries=["train.py"], changed=["meters.py"]))


def test_a_comment_silences():
    silenced = TRAIN.replace("loss.backward()", "loss.backward()  # preflight: ignore[missing-zero-grad] on purpose")
    found = report(silenced)
    assert [finding.rule for finding in found.findings] == ["retained-graph"]
    assert [finding.rule for finding in found.suppressed] == ["missing-zero-grad"]


def test_a_rule_that_raises_is_named_and_the_others_go_on():
    def breaks(_trace):
        raise KeyError("gone")

    def speaks(trace):
        span = Span(trace.path, 0, 1)
        yield Reported(Finding("speaks", Severity.NOTICE, Confidence.HIGH, span, "said", (Evidence(span, "here"),), no_fix_because="none"))

    rules = [Rule(name, Severity.ERROR, name, "page", check, ()) for name, check in (("breaks", breaks), ("speaks", speaks))]
    found = analyse(Snapshot.of({"train.py": TRAIN.encode(), "meters.py": METERS.encode()}), rules)
    assert [finding.rule for finding in found.findings] == ["speaks"]
    assert len(found.problems) == 1
    assert "breaks" in found.problems[0]
    assert "train.py" in found.problems[0]
