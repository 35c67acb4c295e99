"""One report as one SARIF log with one run.

The standard: https://docs.oasis-open.org/sarif/sarif/v2.1.0/. Columns count
characters (``unicodeCodePoints``); paths count from the root of the repository (``%SRCROOT%``).
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

from analysis.report import Report
from analysis.rule import Rule
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed
from sarif.descriptor import descriptor
from sarif.place import artifact
from sarif.result import result

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(report: Report, snapshot: Snapshot, rules: Iterable[Rule]) -> dict[str, Any]:
    """``report`` on ``snapshot``; ``rules`` are those that ran, with their pages. Findings that a comment or a baseline hides are marked as such."""
    descriptors = {rule.name: descriptor(rule) for rule in rules}
    index = {name: number for number, name in enumerate(descriptors)}
    results = [
        *(result(finding, snapshot, index.get(finding.rule)) for finding in report.findings),
        *(_suppressed(result(finding, snapshot, index.get(finding.rule)), "inSource") for finding in report.suppressed),
        *(_suppressed(result(finding, snapshot, index.get(finding.rule)), "external") for finding in report.baselined),
    ]
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "Preflight", "semanticVersion": version("preflight-bot"), "rules": list(descriptors.values())}},
        "automationDetails": {"id": "preflight/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(report)}],
        "results": results,
    }
    if snapshot.commit:
        run["properties"] = {"commit": snapshot.commit}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _suppressed(value: dict[str, Any], kind: str) -> dict[str, Any]:
    """``inSource``: by a comment; ``external``: by a baseline."""
    return {**value, "suppressions": [{"kind": kind}]}


def _notifications(report: Report) -> list[dict[str, Any]]:
    """What was not read, and what failed."""
    return [
        *(_not_analysed(each) for each in report.not_analysed),
        *({"level": "error", "message": {"text": problem}} for problem in report.problems),
    ]


def _not_analysed(each: NotAnalysed) -> dict[str, Any]:
    place = {"physicalLocation": {"artifactLocation": artifact(each.path), "region": {"startLine": each.line}}}
    return {"level": "warning", "message": {"text": f"{each.path} was not analysed: {each.reason}"}, "locations": [place]}
