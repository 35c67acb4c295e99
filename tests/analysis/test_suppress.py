"""Comments silence what they name, where they stand; one that silences nothing is a notice."""

import pytest

from analysis.engine import analyse
from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.rule import discover
from analysis.snapshot import Snapshot
from analysis.source import Span
from analysis.suppress import suppress

KNOWN = {"retained-graph", "double-softmax"}


def outcome(code: str, rule: str = "retained-graph", ran: set[str] = KNOWN) -> tuple[list[str], list[str]]:
    raw = code.encode()
    start = raw.index(b"total")
    span = Span("train.py", start, start + 5)
    finding = Finding(rule, Severity.ERROR, Confidence.HIGH, span, "it does", (Evidence(span, "here"),))
    done = suppress([finding], Snapshot.of({"train.py": raw}), ["train.py"], ran, KNOWN)
    return [found.rule for found in done.stay], [found.rule for found in done.silenced]


@pytest.mark.parametrize(
    "code",
    [
        "total = 1  # preflight: ignore[retained-graph] bounded",
        "# preflight: ignore[retained-graph] bounded\ntotal = 1",
        "# préflight\n# preflight: ignore[retained-graph]\ntotal = 1",
        "total = 1\nx = 2\n# preflight: ignore-file[retained-graph] generated\n",
        "total = 1  # noqa  # preflight: ignore[retained-graph]",
        "total = 1\r\nx = 2  # preflight: ignore-file[retained-graph]\r\n",
    ],
)
def test_silenced(code):
    assert outcome(code) == ([], ["retained-graph"])


@pytest.mark.parametrize(
    "code",
    [
        "# preflight: ignore[retained-graph]\n\ntotal = 1",
        "total = 1\n# preflight: ignore[retained-graph]",
        "total = 1  # preflight: ignore[double-softmax]",
        "total = 1  # preflight: ignore[no-such-rule]",
        "total = 1  # preflight: ignore",
        "total = 1  # preflight: ignore-file because it is generated",
        "total = 1  # preflight: ignore[]",
    ],
)
def test_unused_comment_is_a_notice_and_the_finding_stays(code):
    assert outcome(code) == (["retained-graph", "unused-suppression"], [])


def test_one_comment_may_name_several_rules():
    assert outcome("total = 1  # preflight: ignore[double-softmax, retained-graph]") == (["unused-suppression"], ["retained-graph"])


def test_other_words_are_no_comment_of_ours():
    assert outcome("total = 1  # preflight: ignored by the linter") == (["retained-graph"], [])


def test_a_comment_in_a_string_is_no_comment():
    assert outcome("total = '# preflight: ignore[retained-graph]'") == (["retained-graph"], [])


def test_a_rule_that_did_not_run_has_no_unused_comments():
    assert outcome("x = 1  # preflight: ignore[double-softmax]\n\ntotal = 1", ran={"retained-graph"}) == (["retained-graph"], [])


def test_a_comment_is_judged_in_a_file_that_trains_nothing_too():
    files = {"train.py": b"import torch\n", "tool.py": b"x = 1  # preflight: ignore[retained-graph] once\n"}
    report = analyse(Snapshot.of(files), discover())
    assert [(each.rule, each.span.path) for each in report.findings] == [("unused-suppression", "tool.py")]


def test_comments_are_judged_only_where_that_is_asked_for():
    files = {"train.py": b"import torch\nx = 1  # preflight: ignore[retained-graph] once\n"}
    asked = [rule for rule in discover() if rule.name == "retained-graph"]
    assert analyse(Snapshot.of(files), asked).findings == ()
