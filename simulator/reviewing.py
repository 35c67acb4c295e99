"""Reviews and the comments on the diff, anchored the way GitHub insists on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simulator.conversation import Anchor, Review, ReviewComment, ReviewState
from simulator.git.diff import changed_files
from simulator.git.hunks import Hunk, Side, current_line, parse_hunks

if TYPE_CHECKING:
    from simulator.accounts import Account
    from simulator.pull_request import PullRequest

OUTSIDE_DIFF = "Pull request review thread line must be part of the diff"
OTHER_HUNK = "Pull request review thread start line must be part of the same hunk as the line."
NO_PATH = "Pull request review thread path is invalid"
WRONG_ORDER = "Pull request review thread start line must precede the end line."
UNKNOWN_COMMIT = "Pull request review thread commit_id is not part of the pull request"


class AnchorError(ValueError):
    """A comment that does not fit the diff; the message is what GitHub says."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody wants to comment. Without `line` and `position` the comment is on the whole file."""

    path: str
    line: int | None = None
    side: Side = "RIGHT"
    start_line: int | None = None
    start_side: Side | None = None
    position: int | None = None


def anchor(pull: PullRequest, place: Place, commit_id: str) -> Anchor:
    """The place in the diff from the merge base to `commit_id`.

    Raises:
        AnchorError: the commit or path is not the pull request's, or the lines stand in no hunk or in two.

    """
    if commit_id not in pull.heads() and commit_id not in pull.commit_ids():
        raise AnchorError(UNKNOWN_COMMIT)
    patch = next((one.patch for one in pull.files(commit_id) if one.path == place.path), None)
    if patch is None and place.path not in {one.path for one in pull.files(commit_id)}:
        raise AnchorError(NO_PATH)
    if place.line is None and place.position is None:
        return Anchor(place.path, commit_id, place.side, None, None, None, None, "")
    hunks = parse_hunks(patch) if patch else ()
    if place.line is None:
        return _at_position(hunks, place, commit_id)
    hunk, index = _find(hunks, place.side, place.line)
    start_side = (place.start_side or place.side) if place.start_line is not None else None
    if place.start_line is not None and start_side is not None:
        start = hunk.index(start_side, place.start_line)
        if start is None:
            raise AnchorError(OTHER_HUNK)
        if start >= index:
            raise AnchorError(WRONG_ORDER)
    return Anchor(
        path=place.path,
        commit_id=commit_id,
        side=place.side,
        line=place.line,
        start_side=start_side,
        start_line=place.start_line,
        position=hunk.position + index + 1,
        diff_hunk=hunk.text_until(index),
    )


def _find(hunks: tuple[Hunk, ...], side: Side, line: int) -> tuple[Hunk, int]:
    for hunk in hunks:
        index = hunk.index(side, line)
        if index is not None:
            return hunk, index
    raise AnchorError(OUTSIDE_DIFF)


def _at_position(hunks: tuple[Hunk, ...], place: Place, commit_id: str) -> Anchor:
    for hunk in hunks:
        index = (place.position or 0) - hunk.position - 1
        if 0 <= index < len(hunk.lines):
            line = hunk.lines[index]
            side: Side = "LEFT" if line.right is None else "RIGHT"
            text = hunk.text_until(index)
            return Anchor(place.path, commit_id, side, line.number(side), None, None, place.position, text)
    raise AnchorError(OUTSIDE_DIFF)


def add_review(pull: PullRequest, user: Account, body: str, state: ReviewState, commit_id: str, comments: list[tuple[Anchor, str]]) -> Review:
    """Store a review with comments whose anchors were checked."""
    platform = pull.repository.platform
    now = platform.clock.now()
    review = Review(platform.ids.next(), user, body, state, commit_id, None if state == "PENDING" else now)
    pull.review_table[review.id] = review
    for where, text in comments:
        add_comment(pull, user, where, text, review.id)
    pull.touch()
    return review


def add_comment(pull: PullRequest, user: Account, where: Anchor, body: str, review_id: int | None) -> ReviewComment:
    """Store one comment that opens a thread."""
    platform = pull.repository.platform
    now = platform.clock.now()
    comment = ReviewComment(platform.ids.next(), review_id, user, body, where, now, now)
    pull.review_comment_table[comment.id] = comment
    return comment


def reply(pull: PullRequest, comment_id: int, user: Account, body: str) -> ReviewComment:
    """Answer in the thread that a comment opened or belongs to."""
    parent = pull.review_comment_table[comment_id]
    comment = add_comment(pull, user, parent.anchor, body, None)
    answered = replace(comment, in_reply_to=parent.in_reply_to or parent.id)
    pull.review_comment_table[comment.id] = answered
    pull.touch()
    return answered


def current_lines(pull: PullRequest, where: Anchor) -> tuple[int | None, int | None]:
    """Start and end line of an anchor in the present head; the end is None when it is outdated."""
    if where.line is None or where.commit_id == pull.head_sha:
        return where.start_line, where.line
    if where.side == "LEFT":
        still_there = any(one.path == where.path for one in pull.files())
        return (where.start_line, where.line) if still_there else (None, None)
    moved = changed_files(pull.repository.git, where.commit_id, pull.head_sha)
    change = next((one for one in moved if where.path in (one.path, one.previous_path)), None)
    if change is not None and (change.patch is None or change.status in ("removed", "renamed")):
        return None, None
    patch = change.patch if change else None
    first = where.start_line or where.line
    lines = [current_line(patch, one) for one in range(first, where.line + 1)]
    if any(one is None for one in lines):
        return None, None
    return (lines[0] if where.start_line else None), lines[-1]


def is_outdated(pull: PullRequest, comment: ReviewComment) -> bool:
    """Whether a later push changed the lines that a comment is about."""
    return comment.anchor.line is not None and current_lines(pull, comment.anchor)[1] is None
