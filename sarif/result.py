"""A finding as a SARIF result: the evidence is a code flow, the patch a fix, the fingerprint survives moved lines."""

from __future__ import annotations

from typing import Any

from analysis.finding import Edit, Finding, Fix
from analysis.snapshot import Snapshot
from sarif.descriptor import LEVELS
from sarif.place import artifact, location, region

#: Ours names the version of what it is made of; GitHub tells alerts apart by the other name alone, whatever stands there.
_FINGERPRINTS = ("preflight/v1", "primaryLocationLineHash")


def result(finding: Finding, snapshot: Snapshot, rule_index: int | None) -> dict[str, Any]:
    """``finding`` of ``snapshot``; ``rule_index`` is its rule's place among the driver's rules, None if it is not there."""
    value: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [_primary(finding, snapshot)],
        "codeFlows": [{"threadFlows": [{"locations": _steps(finding, snapshot)}]}],
        "properties": {"confidence": finding.confidence.label},
    }
    if rule_index is not None:
        value["ruleIndex"] = rule_index
    if finding.fingerprint:
        value["partialFingerprints"] = dict.fromkeys(_FINGERPRINTS, finding.fingerprint)
    if finding.fix is not None:
        value["fixes"] = [_fix(finding.fix, snapshot)]
    return value


def _primary(finding: Finding, snapshot: Snapshot) -> dict[str, Any]:
    place = location(finding.span, snapshot)
    if finding.function:
        place["logicalLocations"] = [*place.get("logicalLocations", ()), {"fullyQualifiedName": finding.function, "kind": "function"}]
    return place


def _steps(finding: Finding, snapshot: Snapshot) -> list[dict[str, Any]]:
    return [{"location": location(step.span, snapshot, step.says)} for step in finding.evidence]


def _fix(fix: Fix, snapshot: Snapshot) -> dict[str, Any]:
    """One change for each file, in the order in which the files are first edited."""
    by_path: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        by_path.setdefault(edit.span.path, []).append(edit)
    changes = [{"artifactLocation": artifact(path), "replacements": [_replacement(edit, snapshot) for edit in edits]} for path, edits in by_path.items()]
    return {"description": {"text": fix.title}, "artifactChanges": changes}


def _replacement(edit: Edit, snapshot: Snapshot) -> dict[str, Any]:
    return {"deletedRegion": region(edit.span, snapshot), "insertedContent": {"text": edit.text}}
