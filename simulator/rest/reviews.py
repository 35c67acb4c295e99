"""Reviews: all their comments stand on the diff, or none is posted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from simulator.conversation import Anchor, Review, ReviewState
from simulator.errors import not_found, unprocessable
from simulator.http.exchange import Answer, Call, paged
from simulator.representation.conversation import review_json
from simulator.rest.registry import answers
from simulator.reviewing import AnchorError, Place, add_review, anchor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.git.hunks import Side

_STATES: dict[object, ReviewState] = {
    None: "PENDING",
    "COMMENT": "COMMENTED",
    "APPROVE": "APPROVED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
}


@answers("pulls/list-reviews")
def list_reviews(call: Call) -> Answer:
    """The reviews, oldest first."""
    pull = call.pull
    return paged(call, [review_json(pull, review) for review in pull.reviews])


@answers("pulls/create-review")
def create_review(call: Call) -> Answer:
    """Post a review. One comment off the diff refuses all of it, and the answer does not say which."""
    pull = call.pull
    commit_id = call.given("commit_id") or pull.head_sha
    anchored: list[tuple[Anchor, str]] = []
    for comment in cast("list[Mapping[str, object]]", call.body.get("comments", [])):
        try:
            anchored.append((anchor(pull, place_of(comment), commit_id), str(comment["body"])))
        except AnchorError as problem:
            raise unprocessable(str(problem)) from problem
    body = call.given("body") or ""
    review = add_review(pull, call.bot, body, _STATES[call.body.get("event")], commit_id, anchored)
    return Answer(review_json(pull, review))


@answers("pulls/update-review")
def update_review(call: Call) -> Answer:
    """Change a review's text."""
    return _store(call, replace(_find(call), body=str(call.body["body"])))


@answers("pulls/submit-review")
def submit_review(call: Call) -> Answer:
    """Submit a pending review."""
    review = _find(call)
    if review.state != "PENDING":
        raise unprocessable("Can not submit a review that is not pending")
    state = _STATES[call.body["event"]]
    body = call.given("body") or review.body
    return _store(call, replace(review, state=state, body=body, submitted_at=call.platform.clock.now()))


@answers("pulls/dismiss-review")
def dismiss_review(call: Call) -> Answer:
    """Dismiss a review that approved or asked for changes."""
    review = _find(call)
    if review.state not in ("APPROVED", "CHANGES_REQUESTED"):
        raise unprocessable("Can not dismiss a commented pull request review")
    return _store(call, replace(review, state="DISMISSED"))


def place_of(comment: Mapping[str, object]) -> Place:
    """Where a comment of a request body wants to stand."""
    return Place(
        path=str(comment["path"]),
        line=cast("int | None", comment.get("line")),
        side=cast("Side", comment.get("side", "RIGHT")),
        start_line=cast("int | None", comment.get("start_line")),
        start_side=cast("Side | None", comment.get("start_side")),
        position=cast("int | None", comment.get("position")),
    )


def _find(call: Call) -> Review:
    found = call.pull.review_table.get(call.number("review_id"))
    if found is None:
        raise not_found()
    return found


def _store(call: Call, review: Review) -> Answer:
    call.pull.review_table[review.id] = review
    return Answer(review_json(call.pull, review))
