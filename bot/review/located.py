"""Findings in lines and columns: what leaves the process, in JSON or in Markdown.

Inside the analysis a position is a span of bytes. Whoever shows a finding needs lines, and may no
longer have the file; so a finding is located once, beside the snapshot that it was found in.
"""

from __future__ import annotations

from dataclasses import dataclass

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.snapshot import Snapshot
from analysis.source import Span


@dataclass(frozen=True, slots=True, order=True)
class Remark:
    """A sentence about a line: a step of evidence, what was not followed, what was not read. In a notebook the line is one of ``cell``."""

    path: str
    line: int
    message: str
    cell: int | None = None

    @property
    def file(self) -> str:
        """What its lines count in: the file, or a cell of it."""
        return named(self.path, self.cell)


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
    """A finding as ``check --format json`` prints it; lines and columns from 1, columns in characters, end exclusive.

    In a notebook lines count from the start of ``cell``, and cells from 1.
    """

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
    cell: int | None = None

    @property
    def file(self) -> str:
        """What its lines count in: the file, or a cell of it."""
        return named(self.path, self.cell)

    @property
    def rank(self) -> tuple[int, int, str, int, str]:
        """Sort key: what matters most first, then by place."""
        return (-self.severity, -self.confidence, self.path, self.line, self.rule)


def named(path: str, cell: int | None) -> str:
    """A file, or a cell of a notebook, as it is called where lines are counted in it."""
    return path if cell is None else f"{path}:cell {cell}"


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
        evidence=tuple(_step(step, snapshot) for step in finding.evidence),
        fix=None if fix is None else LocatedFix(fix.title, fix.safety, tuple(_edit(edit.span, edit.text, snapshot) for edit in fix.edits)),
        no_fix_because=finding.no_fix_because,
        fingerprint=finding.fingerprint,
        cell=position.cell,
    )


def _step(step: Evidence, snapshot: Snapshot) -> Remark:
    at = snapshot.position(step.span)
    return Remark(step.span.path, at.line, step.says, at.cell)


def _edit(span: Span, text: str, snapshot: Snapshot) -> LocatedEdit:
    at = snapshot.position(span)
    return LocatedEdit(span.path, at.line, at.column, at.end_line, at.end_column, text)
