"""The review on the diff: at most one per head commit, and no thread that an earlier push has opened."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bot.github.client import Client
from bot.github.conversation import Conversation
from bot.github.errors import RefusedError
from bot.github.threads import FIXED
from bot.review.inline import FINDING, REVIEW, InlineComment, InlineReview
from bot.review.marker import Signer


@dataclass(frozen=True, slots=True)
class Posted:
    """What we have already said: commits that have a review, digests of findings that have a thread."""

    heads: Collection[str]
    findings: Collection[str]


def posted_in(conversation: Conversation, signer: Signer) -> Posted:
    """Our own reviews and threads. A thread that we closed as fixed no longer speaks for its finding, should that come back."""
    heads = {head for review in conversation.reviews if review.is_ours for head in signer.facts(REVIEW, review.body)}
    findings = set()
    for thread in conversation.threads:
        if any(said.is_ours and any(True for _ in signer.facts(FIXED, said.body)) for said in thread.comments):
            continue
        findings |= {fact for said in thread.comments if said.is_ours for fact in signer.facts(FINDING, said.body)}
    return Posted(heads, findings)


async def post_review(client: Client, number: int, head: str, review: InlineReview) -> tuple[InlineComment, ...]:
    """Post ``review`` on ``head``; gives the comments that GitHub took.

    It refuses the whole where it refuses one line, and does not say which: then either half is tried on its own, down to one.
    """
    return await _post(client, number, head, review.body, review.comments)


async def _post(client: Client, number: int, head: str, text: str, comments: tuple[InlineComment, ...]) -> tuple[InlineComment, ...]:
    body = {"commit_id": head, "event": "COMMENT", "body": text, "comments": [comment.to_json() for comment in comments]}
    try:
        await client.write("POST", f"{{repo}}/pulls/{number}/reviews", body)
    except RefusedError as error:
        if error.status != 422:  # noqa: PLR2004  # Unprocessable Content
            raise
        if len(comments) == 1:
            return ()
        middle = len(comments) // 2
        first = await _post(client, number, head, text, comments[:middle])
        return first + await _post(client, number, head, text, comments[middle:])
    return comments


async def post_on_file(client: Client, number: int, head: str, comment: InlineComment) -> None:
    """Say on the file what GitHub refused on the line; where it takes that neither, the check's summary still names it."""
    body = {"commit_id": head, "path": comment.path, "body": comment.beside(), "subject_type": "file"}
    try:
        await client.write("POST", f"{{repo}}/pulls/{number}/comments", body)
    except RefusedError as error:
        if error.status != 422:  # noqa: PLR2004  # Unprocessable Content
            raise
