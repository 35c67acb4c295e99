"""Comments of the conversation and reactions to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simulator import talking
from simulator.errors import not_found
from simulator.http.exchange import Answer, Call, paged
from simulator.representation.conversation import issue_comment_json, reaction_json
from simulator.rest.registry import answers

if TYPE_CHECKING:
    from simulator.conversation import IssueComment
    from simulator.pull_request import PullRequest


@answers("issues/list-comments")
def list_comments(call: Call) -> Answer:
    """The comments, oldest first; `since` looks at the last change."""
    pull = call.pull
    since = str(call.query.get("since", ""))
    shown = [one for one in pull.comments if one.updated_at.isoformat() >= since]
    return paged(call, [issue_comment_json(pull, one) for one in shown])


@answers("issues/create-comment")
def create_comment(call: Call) -> Answer:
    """Write a comment."""
    return Answer(issue_comment_json(call.pull, talking.add_comment(call.pull, call.bot, str(call.body["body"]))), 201)


@answers("issues/get-comment")
def get_comment(call: Call) -> Answer:
    """One comment."""
    return Answer(issue_comment_json(*_find(call)))


@answers("issues/update-comment")
def update_comment(call: Call) -> Answer:
    """Change a comment's text."""
    pull, comment = _find(call)
    return Answer(issue_comment_json(pull, talking.edit_comment(pull, comment.id, str(call.body["body"]), call.bot)))


@answers("issues/delete-comment")
def delete_comment(call: Call) -> Answer:
    """Remove a comment."""
    pull, comment = _find(call)
    talking.delete_comment(pull, comment.id, call.bot)
    return Answer(status=204)


@answers("reactions/create-for-issue-comment")
def react(call: Call) -> Answer:
    """React with an emoji: 201 the first time, 200 when it is there already."""
    pull, comment = _find(call)
    reactions, reaction, new = talking.with_reaction(call.platform, comment.reactions, call.bot, str(call.body["content"]))
    pull.comment_table[comment.id] = replace(comment, reactions=reactions)
    return Answer(reaction_json(call.platform, reaction), 201 if new else 200)


@answers("reactions/delete-for-issue-comment")
def unreact(call: Call) -> Answer:
    """Take a reaction back."""
    pull, comment = _find(call)
    number = call.number("reaction_id")
    kept = tuple(one for one in comment.reactions if one.id != number)
    if len(kept) == len(comment.reactions):
        raise not_found()
    pull.comment_table[comment.id] = replace(comment, reactions=kept)
    return Answer(status=204)


def _find(call: Call) -> tuple[PullRequest, IssueComment]:
    number = call.number("comment_id")
    for pull in call.repository.pulls.values():
        if number in pull.comment_table:
            return pull, pull.comment_table[number]
    raise not_found()
