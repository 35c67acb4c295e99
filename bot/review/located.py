"""Findings in lines and columns: what leaves the process, in JSON or in Markdown.

Inside the analysis a position is a span of bytes. Whoever shows a finding needs lines, and may no
longer have the file; so a finding is located once, beside the snapshot that it was found in.
"""

from __future__ import annotations

from dataclasses import dataclass

from analysis.finding import Confidence, Finding, Safety, Severity
from analysis.snapshot import Snapshot
from analysis.source import Span


@dataclass(frozen=True, slots=True, order=True)
class Remark:
    """A sentence about a line: a step of evidence, what was not followed, what was not read."""

    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class LocatedEdit:
    """Replace the characters from start to end (1-based, end column exclusive) by ``text``."""

    path: str
    start_line: int
    start_column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class LocatedFix:
    """A patch; for ``REVIEW`` its title is the question that the reader has to answer."""

    title: str
    safety: Safety
    edits: tuple[LocatedEdit, ...]


@dataclass(frozen=True, slots=True)
class LocatedFinding:
    """A finding as ``check --format json`` prints it; lines and columns from 1, columns in characters, end exclusive."""

    rule: str
    severity: Severity
    confidence: Confidence
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    evidence: tuple[Remark, ...]
    fix: LocatedFix | None
    no_fix_because: str | None
    fingerprint: str

    @property
    def rank(self) -> tuple[int, int, str, int, str]:
        """Sort key: what matters most first, then by place."""
        return (-self.severity, -self.confidence, self.path, self.line, self.rule)


def locate(finding: Finding, snapshot: Snapshot) -> LocatedFinding:
    """``finding`` of ``snapshot`` in lines and columns."""
    position = snapshot.position(finding.span)
    fix = finding.fix
    return LocatedFinding(
        rule=finding.rule,
        severity=finding.severity,
        confidence=finding.confidence,
        path=finding.span.path,
        line=position.line,
        column=position.column,
        end_line=position.end_line,
        end_column=position.end_column,
        message=finding.message,
        evidence=tuple(Remark(step.span.path, snapshot.position(step.span).line, step.says) for step in finding.evidence),
        fix=None if fix is None else LocatedFix(fix.title, fix.safety, tuple(_edit(edit.span, edit.text, snapshot) for edit in fix.edits)),
        no_fix_because=finding.no_fix_because,
        fingerprint=finding.fingerprint,
    )


def _edit(span: Span, text: str, snapshot: Snapshot) -> LocatedEdit:
    at = snapshot.position(span)
    return LocatedEdit(span.path, at.line, at.column, at.end_line, at.end_column, text)
