"""The review on the diff: at most one per head commit, and no thread that an earlier push has opened."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bot.github.client import Client
from bot.github.errors import RefusedError
from bot.review.inline import FINDING, REVIEW, InlineReview
from bot.review.marker import Signer


@dataclass(frozen=True, slots=True)
class Posted:
    """What we have already said: commits that have a review, digests of findings that have a thread."""

    heads: Collection[str]
    findings: Collection[str]


async def read_posted(client: Client, number: int, login: str, signer: Signer) -> Posted:
    """Our own reviews and threads on the pull request."""
    reviews = await client.pages(f"{{repo}}/pulls/{number}/reviews")
    comments = await client.pages(f"{{repo}}/pulls/{number}/comments")
    heads = {head for review in reviews if _is_ours(review, login) for head in signer.facts(REVIEW, review["body"] or "")}
    findings = {fact for comment in comments if _is_ours(comment, login) for fact in signer.facts(FINDING, comment["body"] or "")}
    return Posted(heads, findings)


async def post_review(client: Client, number: int, head: str, review: InlineReview) -> bool:
    """Post ``review`` on ``head``; False where GitHub refuses a line of it: it then refuses the whole and does not say which."""
    body = {"commit_id": head, "event": "COMMENT", "body": review.body, "comments": [comment.to_json() for comment in review.comments]}
    try:
        await client.write("POST", f"{{repo}}/pulls/{number}/reviews", body)
    except RefusedError as error:
        if error.status != 422:  # noqa: PLR2004  # Unprocessable Content
            raise
        return False
    return True


def _is_ours(entry: dict[str, object], login: str) -> bool:
    user = entry.get("user")
    return isinstance(user, dict) and user.get("login") == login
