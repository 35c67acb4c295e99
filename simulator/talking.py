"""The conversation of a pull request: comments, their edits, and reactions to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simulator.conversation import IssueComment, Reaction
from simulator.webhooks.events import issue_comment_event

if TYPE_CHECKING:
    from simulator.accounts import Account
    from simulator.platform import Platform
    from simulator.pull_request import PullRequest


def add_comment(pull: PullRequest, user: Account, body: str) -> IssueComment:
    """Write in the conversation and tell the App."""
    platform = pull.repository.platform
    now = platform.clock.now()
    comment = IssueComment(platform.ids.next(), user, body, now, now)
    pull.comment_table[comment.id] = comment
    pull.touch()
    issue_comment_event(pull, comment, "created", user)
    return comment


def edit_comment(pull: PullRequest, comment_id: int, body: str, editor: Account) -> IssueComment:
    """Change a comment's text; the event carries the old one."""
    old = pull.comment_table[comment_id]
    comment = replace(old, body=body, updated_at=pull.repository.platform.clock.now())
    pull.comment_table[comment_id] = comment
    issue_comment_event(pull, comment, "edited", editor, {"changes": {"body": {"from": old.body}}})
    return comment


def delete_comment(pull: PullRequest, comment_id: int, sender: Account) -> None:
    """Remove a comment."""
    comment = pull.comment_table.pop(comment_id)
    issue_comment_event(pull, comment, "deleted", sender)


def with_reaction(platform: Platform, reactions: tuple[Reaction, ...], user: Account, content: str) -> tuple[tuple[Reaction, ...], Reaction, bool]:
    """The reactions with one more, that one, and whether it is new: an account reacts once with each emoji."""
    for reaction in reactions:
        if reaction.user == user and reaction.content == content:
            return reactions, reaction, False
    reaction = Reaction(platform.ids.next(), user, content, platform.clock.now())
    return (*reactions, reaction), reaction, True
