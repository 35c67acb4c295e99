"""Apply the suggestion of a review comment, as the "Commit suggestion" button does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simulator.reviewing import current_lines

if TYPE_CHECKING:
    from simulator.accounts import Account
    from simulator.pull_request import PullRequest

_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})[ \t]*suggestion[^\n]*\n", re.MULTILINE)


class SuggestionRefusedError(ValueError):
    """The button is greyed out; the message says why."""


def suggestion_in(body: str) -> str | None:
    """The replacement text of a comment's first suggestion block, with its line ends; None when it has none."""
    opening = _FENCE.search(body)
    if opening is None:
        return None
    fence = opening["fence"]
    closing = re.compile(rf"^ {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
    end = closing.search(body, opening.end())
    return body[opening.end() : end.start() if end else len(body)]


def apply_suggestion(pull: PullRequest, comment_id: int, user: Account) -> str:
    """Replace exactly the commented lines of the head by the suggestion and return the new head.

    Raises:
        SuggestionRefusedError: there is no suggestion, it is outdated or on removed lines, it changes nothing, or the
            pull request is closed.

    """
    comment = pull.review_comment_table[comment_id]
    replacement = suggestion_in(comment.body)
    if replacement is None:
        raise SuggestionRefusedError("This comment holds no suggestion.")
    if pull.state == "closed":
        raise SuggestionRefusedError("Suggestions cannot be applied while the pull request is closed.")
    if comment.anchor.side == "LEFT":
        raise SuggestionRefusedError("Suggestions cannot be applied on deleted lines.")
    start, end = current_lines(pull, comment.anchor)
    if end is None:
        raise SuggestionRefusedError("This suggestion is outdated and cannot be applied.")
    path = comment.anchor.path
    old = pull.head_repository.read(pull.head_sha, path)
    lines = re.findall(r"[^\n]*\n|[^\n]+", old)
    first = (start or end) - 1
    new = "".join([*lines[:first], replacement, *lines[end:]])
    if new == old:
        raise SuggestionRefusedError("This suggestion changes nothing.")
    message = f"Update {path}\n\nCo-authored-by: {comment.user.login} <{comment.user.login}@users.noreply.github.com>"
    return pull.push({path: new}, message, author=user.login)
