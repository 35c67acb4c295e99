"""A report as SARIF: valid by the official schema, and saying what the report says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from analysis.finding import Confidence, Edit, Evidence, Finding, Fix, Safety, Severity
from analysis.fixes.change import Reported
from analysis.report import Report
from analysis.rule import Good, Rule
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed, Span
from sarif import to_sarif

SCHEMA = json.loads((Path(__file__).parent / "schema" / "sarif-2.1.0-rtm.5.json").read_text())
# Its pattern for languages holds a bracket too many, which the validator's regular expressions refuse; no language is written.
for kind in ("run", "toolComponent"):
    del SCHEMA["definitions"][kind]["properties"]["language"]["pattern"]
VALIDATOR = jsonschema_rs.validator_for(SCHEMA, validate_formats=True)

SOURCE = 'losses = []\nname = "é😀"; losses.append(loss)\n'
PATH = "a b/träin.py"


def _nothing(_trace: object) -> Iterator[Reported]:
    return iter(())


RULE = Rule("retained-graph", Severity.ERROR, "A list keeps every graph.", "A list keeps\nevery graph.\n\nMore.", _nothing, (Good("x = 1"),))


def _span(text: str) -> Span:
    start = SOURCE.encode().index(text.encode())
    return Span(PATH, start, start + len(text.encode()))


def _finding(**changes: Any) -> Finding:
    values: dict[str, Any] = {
        "rule": "retained-graph",
        "severity": Severity.ERROR,
        "confidence": Confidence.HIGH,
        "span": _span("losses.append(loss)"),
        "message": "losses keeps the graph of every step",
        "evidence": (Evidence(_span("losses = []"), "the list is made"), Evidence(_span("losses.append(loss)"), "and grows")),
        "function": "train",
        "fix": Fix("store the number", Safety.SAFE, (Edit(_span("loss)"), "loss.item())"),)),
        "fingerprint": "abc",
    }
    return Finding(**{**values, **changes})


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return Snapshot.of({PATH: SOURCE.encode()}, commit="f" * 40)


@pytest.fixture(scope="module")
def log(snapshot: Snapshot) -> dict[str, Any]:
    report = Report(
        findings=(_finding(), _finding(rule="unused-suppression", fix=None, fingerprint="", function="")),
        suppressed=(_finding(severity=Severity.NOTICE),),
        not_analysed=(NotAnalysed("broken.py", "not valid Python: invalid syntax", 3),),
        problems=("the rule x failed and was skipped",),
    )
    return to_sarif(report, snapshot, [RULE])


def test_it_is_valid(log: dict[str, Any]) -> None:
    errors = [f"{list(error.instance_path)}: {error.message}" for error in VALIDATOR.iter_errors(log)]

    assert errors == []


def test_the_schema_can_say_no(log: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid({**log, "version": "2.0.0"})


def test_an_empty_report_is_valid(snapshot: Snapshot) -> None:
    assert VALIDATOR.is_valid(to_sarif(Report(), snapshot, []))


def test_columns_count_characters(log: dict[str, Any]) -> None:
    run = log["runs"][0]

    assert run["columnKind"] == "unicodeCodePoints"
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["region"] == {"startLine": 2, "startColumn": 14, "endLine": 2, "endColumn": 33}
    assert place["artifactLocation"]["uri"] == "a%20b/tr%C3%A4in.py"


def test_evidence_is_a_code_flow(log: dict[str, Any]) -> None:
    steps = log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"]

    assert [step["location"]["message"]["text"] for step in steps] == ["the list is made", "and grows"]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps] == [1, 2]


def test_a_fix_is_a_replacement(log: dict[str, Any]) -> None:
    change = log["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0]

    assert change["replacements"] == [
        {"deletedRegion": {"startLine": 2, "startColumn": 28, "endLine": 2, "endColumn": 33}, "insertedContent": {"text": "loss.item())"}},
    ]


def test_a_rule_brings_its_page(log: dict[str, Any]) -> None:
    first, engine, _ = log["runs"][0]["results"]
    rules = log["runs"][0]["tool"]["driver"]["rules"]

    assert rules[first["ruleIndex"]]["help"]["markdown"] == RULE.documentation
    assert rules[first["ruleIndex"]]["fullDescription"]["text"] == "A list keeps every graph."
    assert "ruleIndex" not in engine


def test_what_was_silenced_or_not_read_is_said(log: dict[str, Any]) -> None:
    run = log["runs"][0]

    assert [result["level"] for result in run["results"]] == ["error", "error", "note"]
    assert run["results"][2]["suppressions"] == [{"kind": "inSource"}]
    assert [each["level"] for each in run["invocations"][0]["toolExecutionNotifications"]] == ["warning", "error"]
    assert run["results"][0]["partialFingerprints"] == {"preflight/v1": "abc", "primaryLocationLineHash": "abc"}


def test_a_name_that_is_not_utf8_still_makes_a_uri() -> None:
    snapshot = Snapshot.of({"b\udcffd.py": b"x = 1\n"})
    span = Span("b\udcffd.py", 0, 1)
    finding = _finding(span=span, evidence=(Evidence(span, "here"),), fix=None)

    log = to_sarif(Report(findings=(finding,)), snapshot, [RULE])

    assert log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "b%FFd.py"
