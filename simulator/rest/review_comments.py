"""Single comments on the diff, replies and reactions to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simulator import reviewing
from simulator.errors import not_found, unprocessable
from simulator.http.exchange import Answer, Call, paged
from simulator.representation.conversation import reaction_json, review_comment_json
from simulator.rest.registry import answers
from simulator.rest.reviews import place_of
from simulator.talking import with_reaction

if TYPE_CHECKING:
    from simulator.conversation import ReviewComment
    from simulator.pull_request import PullRequest


@answers("pulls/list-review-comments")
def list_comments(call: Call) -> Answer:
    """All comments on the diff, replies included; those of pending reviews are left out."""
    pull = call.pull
    pending = {review.id for review in pull.reviews if review.state == "PENDING"}
    shown = [one for one in pull.review_comments if one.review_id not in pending]
    since = call.query.get("since")
    if since is not None:
        shown = [one for one in shown if one.updated_at.isoformat() >= str(since)]
    if call.query.get("sort") in ("created", "updated") and call.query.get("direction") == "desc":
        shown.reverse()
    return paged(call, [review_comment_json(pull, one) for one in shown])


@answers("pulls/create-review-comment")
def create_comment(call: Call) -> Answer:
    """Comment on lines or, with `subject_type: file`, on a whole file."""
    pull = call.pull
    try:
        where = reviewing.anchor(pull, place_of(call.body), str(call.body["commit_id"]))
    except reviewing.AnchorError as problem:
        raise unprocessable(str(problem)) from problem
    comments = [(where, str(call.body["body"]))]
    review = reviewing.add_review(pull, call.bot, "", "COMMENTED", where.commit_id, comments)
    made = next(one for one in pull.review_comments if one.review_id == review.id)
    return Answer(review_comment_json(pull, made), 201)


@answers("pulls/create-reply-for-review-comment")
def create_reply(call: Call) -> Answer:
    """Answer in a thread."""
    pull = call.pull
    parent = pull.review_comment_table.get(call.number("comment_id"))
    if parent is None:
        raise not_found()
    if parent.in_reply_to is not None:
        raise unprocessable("in_reply_to must be the first comment of a thread")
    return Answer(review_comment_json(pull, reviewing.reply(pull, parent.id, call.bot, str(call.body["body"]))), 201)


@answers("pulls/update-review-comment")
def update_comment(call: Call) -> Answer:
    """Change a comment's text."""
    pull, comment = _find(call)
    changed = replace(comment, body=str(call.body["body"]), updated_at=call.platform.clock.now())
    pull.review_comment_table[comment.id] = changed
    return Answer(review_comment_json(pull, changed))


@answers("pulls/delete-review-comment")
def delete_comment(call: Call) -> Answer:
    """Remove a comment."""
    pull, comment = _find(call)
    del pull.review_comment_table[comment.id]
    return Answer(status=204)


@answers("reactions/create-for-pull-request-review-comment")
def react(call: Call) -> Answer:
    """React with an emoji: 201 the first time, 200 when it is there already."""
    pull, comment = _find(call)
    reactions, reaction, new = with_reaction(call.platform, comment.reactions, call.bot, str(call.body["content"]))
    pull.review_comment_table[comment.id] = replace(comment, reactions=reactions)
    return Answer(reaction_json(call.platform, reaction), 201 if new else 200)


def _find(call: Call) -> tuple[PullRequest, ReviewComment]:
    number = call.number("comment_id")
    for pull in call.repository.pulls.values():
        if number in pull.review_comment_table:
            return pull, pull.review_comment_table[number]
    raise not_found()
