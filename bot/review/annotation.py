"""Annotations of a check run: findings on lines that a suggestion cannot reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from analysis.finding import Severity
from bot.review import limits
from bot.review.located import LocatedFinding
from bot.review.text import visible

Level = Literal["notice", "warning", "failure"]
_LEVELS: dict[Severity, Level] = {
    Severity.NOTICE: "notice",
    Severity.WARNING: "warning",
    Severity.ERROR: "failure",
}


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation as checks/update takes it; columns only where it stands on one line."""

    path: str
    start_line: int
    end_line: int
    level: Level
    title: str
    message: str
    raw_details: str
    columns: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        limits.require(self.title, limits.TITLE_CHARACTERS, "the title of an annotation")
        limits.require(self.message, limits.ANNOTATION_BYTES, "the message of an annotation")
        limits.require(self.raw_details, limits.ANNOTATION_BYTES, "the details of an annotation")
        if self.columns and self.start_line != self.end_line:
            raise ValueError("GitHub takes columns only for an annotation on one line")

    def to_json(self) -> dict[str, str | int]:
        """The object of the request."""
        value: dict[str, str | int] = {
            "path": self.path,
            "start_line": self.start_line,
            "end_line": self.end_line,
            "annotation_level": self.level,
            "title": self.title,
            "message": self.message,
        }
        if self.raw_details:
            value["raw_details"] = self.raw_details
        if self.columns:
            value["start_column"], value["end_column"] = self.columns
        return value


@dataclass(frozen=True, slots=True)
class Batch:
    """At most fifty annotations: what one request may carry."""

    annotations: tuple[Annotation, ...]

    def __post_init__(self) -> None:
        if len(self.annotations) > limits.ANNOTATIONS_PER_REQUEST:
            raise ValueError(f"GitHub takes {limits.ANNOTATIONS_PER_REQUEST} annotations in one request")


def annotate(finding: LocatedFinding, patched: str | None) -> Annotation:
    """``finding`` as an annotation; ``patched`` are the lines that its fix leaves. Plain text: GitHub renders no Markdown here."""
    first, last = (finding.line, finding.end_line) if finding.cell is None else (1, 1)  # lines of a cell are none of the file
    one_line = first == last and finding.cell is None
    in_cell = "" if finding.cell is None else f"Cell {finding.cell}, line {finding.line}: "
    return Annotation(
        path=finding.path,
        start_line=first,
        end_line=last,
        level=_LEVELS[finding.severity],
        title=limits.title(finding.rule),
        message=limits.cut_bytes(in_cell + visible(finding.message), limits.ANNOTATION_BYTES),
        raw_details=limits.cut_bytes(_details(finding, patched), limits.ANNOTATION_BYTES),
        columns=(finding.column, max(finding.column, finding.end_column - 1)) if one_line else None,
    )


def batches(annotations: Iterable[Annotation], already_sent: int = 0) -> Iterator[Batch]:
    """Batches in order, without the first ``already_sent``: an update appends, so one that was sent must not go again."""
    remaining = islice(annotations, already_sent, limits.ANNOTATIONS_PER_CHECK)
    while chunk := tuple(islice(remaining, limits.ANNOTATIONS_PER_REQUEST)):
        yield Batch(chunk)


def _details(finding: LocatedFinding, patched: str | None) -> str:
    parts = []
    if len(finding.evidence) > 1:
        steps = (f"{visible(step.file)}:{step.line}: {visible(step.message)}" for step in finding.evidence)
        parts.append("How it gets there\n" + "\n".join(steps))
    if finding.fix is not None:
        parts.append(visible(finding.fix.title) + (f"\n{patched}" if patched else ""))
    elif finding.no_fix_because:
        parts.append(f"No patch is offered: {visible(finding.no_fix_because)}")
    return "\n\n".join(parts)
