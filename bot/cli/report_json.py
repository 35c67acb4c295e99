"""A whole report as JSON, and back: what is kept from one run of ``preflight check`` to the next."""

from __future__ import annotations

from typing import Any

from analysis.finding import Confidence, Edit, Evidence, Finding, Fix, Safety, Severity
from analysis.report import Report, Unresolved
from analysis.source import NotAnalysed, Span

Json = dict[str, Any]


def report_to_json(report: Report) -> Json:
    """Everything but ``baselined``, which a baseline adds."""
    return {
        "findings": [_finding(each) for each in report.findings],
        "unresolved": [[each.path, each.line, each.message] for each in report.unresolved],
        "not_analysed": [[each.path, each.reason, each.line] for each in report.not_analysed],
        "files": report.files,
        "programs": report.programs,
        "rules": report.rules,
        "suppressed": [_finding(each) for each in report.suppressed],
        "problems": list(report.problems),
    }


def report_from_json(value: Json) -> Report:
    """The inverse of ``report_to_json``. Raises KeyError, TypeError or ValueError where the form is not met."""
    return Report(
        findings=tuple(_finding_of(each) for each in value["findings"]),
        unresolved=tuple(Unresolved(*each) for each in value["unresolved"]),
        not_analysed=tuple(NotAnalysed(*each) for each in value["not_analysed"]),
        files=value["files"],
        programs=value["programs"],
        rules=value["rules"],
        suppressed=tuple(_finding_of(each) for each in value["suppressed"]),
        problems=tuple(value["problems"]),
    )


def _finding(finding: Finding) -> Json:
    fix = finding.fix
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "span": _span(finding.span),
        "message": finding.message,
        "evidence": [[_span(step.span), step.says] for step in finding.evidence],
        "function": finding.function,
        "fix": None if fix is None else [fix.title, fix.safety.value, [[_span(edit.span), edit.text] for edit in fix.edits]],
        "no_fix_because": finding.no_fix_because,
        "fingerprint": finding.fingerprint,
    }


def _finding_of(value: Json) -> Finding:
    fix = value["fix"]
    return Finding(
        **{
            **value,
            "severity": Severity(value["severity"]),
            "confidence": Confidence(value["confidence"]),
            "span": Span(*value["span"]),
            "evidence": tuple(Evidence(Span(*span), says) for span, says in value["evidence"]),
            "fix": None if fix is None else Fix(fix[0], Safety(fix[1]), tuple(Edit(Span(*span), text) for span, text in fix[2])),
        }
    )


def _span(span: Span) -> list[str | int]:
    return [span.path, span.start, span.end]
