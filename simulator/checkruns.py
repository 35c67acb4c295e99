"""Check suites and check runs, as they stand at a moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

CheckStatus = Literal["queued", "in_progress", "completed"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark of a check run on lines of a file; lines and columns are 1-based."""

    path: str
    start_line: int
    end_line: int
    level: str
    message: str
    title: str | None
    raw_details: str | None
    start_column: int | None
    end_column: int | None


@dataclass(frozen=True, slots=True)
class CheckAction:
    """A button of a completed check run."""

    label: str
    description: str
    identifier: str


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One check run of the App on one commit."""

    id: int
    suite_id: int
    head_sha: str
    name: str
    status: CheckStatus
    conclusion: str | None
    started_at: datetime
    completed_at: datetime | None
    details_url: str | None
    external_id: str | None
    title: str | None
    summary: str | None
    text: str | None
    annotations: tuple[Annotation, ...]
    actions: tuple[CheckAction, ...]


@dataclass(frozen=True, slots=True)
class CheckSuite:
    """All check runs of the App on one commit."""

    id: int
    head_sha: str
    head_branch: str | None
    created_at: datetime
    before: str | None
    requeued: bool = False


@dataclass(frozen=True, slots=True)
class CommitStatus:
    """A status of the older kind."""

    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SarifUpload:
    """One SARIF file that was uploaded: the decoded document with where it belongs."""

    id: str
    commit_sha: str
    ref: str
    document: dict[str, object]
    created_at: datetime
