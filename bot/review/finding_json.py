"""Findings as ``check --format json`` prints them, and back: the worker process answers in this form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from analysis.finding import Confidence, Safety, Severity
from bot.review.located import LocatedEdit, LocatedFinding, LocatedFix, Remark

Json = dict[str, Any]


def finding_to_json(finding: LocatedFinding) -> Json:
    """One entry of ``findings``; ``cell`` only in notebooks."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.label,
        "confidence": finding.confidence.label,
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        **_cell(finding),
        "message": finding.message,
        "evidence": remarks_to_json(finding.evidence),
        "fix": None if finding.fix is None else _fix_to_json(finding.fix),
        "no_fix_because": finding.no_fix_because,
        "fingerprint": finding.fingerprint,
    }


def finding_from_json(value: Json) -> LocatedFinding:
    """The inverse of ``finding_to_json``. Raises KeyError or ValueError where the form is not met."""
    fix = value["fix"]
    return LocatedFinding(
        **{
            **value,
            "severity": Severity[value["severity"].upper()],
            "confidence": Confidence[value["confidence"].upper()],
            "evidence": remarks_from_json(value["evidence"]),
            "fix": None if fix is None else _fix_from_json(fix),
        }
    )


def remarks_to_json(remarks: Iterable[Remark]) -> list[Json]:
    """``evidence``, ``unresolved`` or ``not_analysed``."""
    return [{"path": remark.path, "line": remark.line, "message": remark.message, **_cell(remark)} for remark in remarks]


def _cell(place: Remark | LocatedFinding) -> Json:
    return {} if place.cell is None else {"cell": place.cell}


def remarks_from_json(values: list[Json]) -> tuple[Remark, ...]:
    """The inverse of ``remarks_to_json``."""
    return tuple(Remark(value["path"], value["line"], value["message"], value.get("cell")) for value in values)


def counts_to_json(what: str, rules: Iterable[str]) -> Json:
    """How many findings were hidden, in all and by rule; ``what`` hid them, and ``rules`` holds one name for each."""
    names = sorted(rules)
    return {what: len(names), f"{what}_by_rule": dict(Counter(names))}


def counts_from_json(what: str, value: Json) -> tuple[str, ...]:
    """The inverse of ``counts_to_json``."""
    return tuple(name for name, number in value[f"{what}_by_rule"].items() for _ in range(number))


def _fix_to_json(fix: LocatedFix) -> Json:
    edits = [
        {
            "path": edit.path,
            "start_line": edit.start_line,
            "start_column": edit.start_column,
            "end_line": edit.end_line,
            "end_column": edit.end_column,
            "text": edit.text,
        }
        for edit in fix.edits
    ]
    return {"title": fix.title, "safety": fix.safety.value, "edits": edits}


def _fix_from_json(value: Json) -> LocatedFix:
    edits = tuple(LocatedEdit(**edit) for edit in value["edits"])
    return LocatedFix(value["title"], Safety(value["safety"]), edits)
