"""What one analysis says: findings, what could not be followed, what could not be read; and its JSON.

Everything is a value in a fixed order, so that the same commit gives the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analysis.finding import Edit, Evidence, Finding, Fix
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed, Position, SourceFile, Span

VERSION = 1


@dataclass(frozen=True, slots=True, order=True)
class Unresolved:
    """A value or call that could not be followed, at ``path``:``line``; ``message`` is one sentence."""

    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Report:
    """One analysis. ``files`` were analysed, ``rules`` were run, ``suppressed`` findings were silenced by a comment."""

    findings: tuple[Finding, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    not_analysed: tuple[NotAnalysed, ...] = ()
    files: int = 0
    rules: int = 0
    suppressed: tuple[Finding, ...] = ()


def report_json(report: Report, snapshot: Snapshot) -> dict[str, Any]:
    """``report`` as `check --format json` prints it; ``snapshot`` turns spans into lines and columns."""
    return {
        "version": VERSION,
        "findings": [finding_json(finding, snapshot) for finding in report.findings],
        "unresolved": [unresolved_json(each) for each in report.unresolved],
        "not_analysed": [not_analysed_json(each) for each in report.not_analysed],
        "files": report.files,
        "rules": report.rules,
        "suppressed": len(report.suppressed),
    }


def finding_json(finding: Finding, snapshot: Snapshot) -> dict[str, Any]:
    """One finding: lines and columns from 1, columns in characters, the end column exclusive."""
    at = position(finding.span, snapshot)
    return {
        "rule": finding.rule,
        "severity": finding.severity.label,
        "confidence": finding.confidence.label,
        "path": finding.span.path,
        "line": at.line,
        "column": at.column,
        "end_line": at.end_line,
        "end_column": at.end_column,
        "message": finding.message,
        "evidence": [_evidence_json(step, snapshot) for step in finding.evidence],
        "fix": None if finding.fix is None else _fix_json(finding.fix, snapshot),
        "no_fix_because": finding.no_fix_because,
        "fingerprint": finding.fingerprint,
    }


def unresolved_json(unresolved: Unresolved) -> dict[str, Any]:
    """One thing that could not be followed."""
    return {"path": unresolved.path, "line": unresolved.line, "message": unresolved.message}


def not_analysed_json(not_analysed: NotAnalysed) -> dict[str, Any]:
    """One file that could not be read."""
    return {"path": not_analysed.path, "line": not_analysed.line, "message": not_analysed.reason}


def position(span: Span, snapshot: Snapshot) -> Position:
    """Lines and character columns of ``span``; ValueError if its file was not analysed (a finding cannot lie there)."""
    source = snapshot.source(span.path)
    if not isinstance(source, SourceFile):
        raise ValueError(f"{span.path}: a finding in a file that was not analysed: {source.reason}")  # noqa: TRY004  # a broken invariant, not a wrong argument
    return source.position(span)


def _evidence_json(step: Evidence, snapshot: Snapshot) -> dict[str, Any]:
    return {"path": step.span.path, "line": position(step.span, snapshot).line, "message": step.says}


def _fix_json(fix: Fix, snapshot: Snapshot) -> dict[str, Any]:
    return {"title": fix.title, "safety": fix.safety.value, "edits": [_edit_json(edit, snapshot) for edit in fix.edits]}


def _edit_json(edit: Edit, snapshot: Snapshot) -> dict[str, Any]:
    at = position(edit.span, snapshot)
    return {
        "path": edit.span.path,
        "start_line": at.line,
        "start_column": at.column,
        "end_line": at.end_line,
        "end_column": at.end_column,
        "text": edit.text,
    }
