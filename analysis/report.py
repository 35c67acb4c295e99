"""What one analysis says: findings, what could not be followed, what could not be read.

Everything is a value in a fixed order, so that the same commit gives the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from analysis.finding import Finding
from analysis.source import NotAnalysed


@dataclass(frozen=True, slots=True, order=True)
class Unresolved:
    """A value or call that could not be followed, at ``path``:``line``; ``message`` is one sentence."""

    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Report:
    """One analysis. ``files`` were analysed and ``rules`` were run, on the runs that begin in ``programs`` of the files.

    ``suppressed`` findings were silenced by a comment, ``baselined`` ones are hidden by a baseline.
    ``problems`` are sentences about what went wrong in the analysis itself: a rule that failed and was skipped.
    """

    findings: tuple[Finding, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    not_analysed: tuple[NotAnalysed, ...] = ()
    files: int = 0
    programs: int = 0
    rules: int = 0
    suppressed: tuple[Finding, ...] = ()
    baselined: tuple[Finding, ...] = ()
    problems: tuple[str, ...] = ()
