"""What is said on a pull request: comments, reviews and reactions, as they stand at a moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from simulator.accounts import Account
from simulator.git.hunks import Side

ReviewState = Literal["PENDING", "COMMENTED", "APPROVED", "CHANGES_REQUESTED", "DISMISSED"]


@dataclass(frozen=True, slots=True)
class Reaction:
    """One emoji of one account."""

    id: int
    user: Account
    content: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class IssueComment:
    """A comment in the conversation. `minimized` is the reason given for hiding it."""

    id: int
    user: Account
    body: str
    created_at: datetime
    updated_at: datetime
    minimized: str | None = None
    reactions: tuple[Reaction, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """A review without its comments. `commit_id` is the head it was written for."""

    id: int
    user: Account
    body: str
    state: ReviewState
    commit_id: str
    submitted_at: datetime | None
    minimized: str | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where in the diff of `commit_id` a review comment stands.

    `line` and `start_line` are 1-based; both are None for a comment on a whole file. `position` counts lines from
    the file's first hunk header.
    """

    path: str
    commit_id: str
    side: Side
    line: int | None
    start_side: Side | None
    start_line: int | None
    position: int | None
    diff_hunk: str


@dataclass(frozen=True, slots=True)
class ReviewComment:
    """A comment on lines of the diff. Replies name the comment that opened their thread."""

    id: int
    review_id: int | None
    user: Account
    body: str
    anchor: Anchor
    created_at: datetime
    updated_at: datetime
    in_reply_to: int | None = None
    minimized: str | None = None
    reactions: tuple[Reaction, ...] = ()
