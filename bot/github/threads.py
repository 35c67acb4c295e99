"""Threads of findings that are gone: deleted where nobody answered, else answered and resolved, so that no talk is lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bot.github.client import Client
from bot.github.conversation import Thread
from bot.github.errors import NotFoundError
from bot.review.inline import FINDING
from bot.review.marker import Signer

FIXED = "fixed"

_RESOLVE = "mutation($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) { clientMutationId } }"


def gone(threads: Iterable[Thread], signer: Signer, present: Collection[str]) -> list[Thread]:
    """Our open threads about a finding whose digest is not among those ``present``."""
    return [thread for thread in threads if not thread.is_resolved and (about := _finding(thread, signer)) is not None and about not in present]


async def close_thread(client: Client, number: int, thread: Thread, signer: Signer, head: str) -> None:
    """Close ``thread``, whose finding is gone on the commit ``head``. What a former try has done is not done again."""
    opener = thread.opener
    if opener is None:
        return
    if not thread.is_answered:
        await _delete(client, opener.number)
        return
    if not any(said.is_ours and any(True for _ in signer.facts(FIXED, said.body)) for said in thread.comments):
        body = f"Fixed in {head[:7]}.\n{signer.mark(FIXED, head)}"
        await client.write("POST", f"{{repo}}/pulls/{number}/comments/{opener.number}/replies", {"body": body})
    await client.mutate(_RESOLVE, {"thread": thread.id})


def _finding(thread: Thread, signer: Signer) -> str | None:
    opener = thread.opener
    return next(signer.facts(FINDING, opener.body), None) if opener is not None and opener.is_ours else None


async def _delete(client: Client, comment: int) -> None:
    try:
        await client.write("DELETE", f"{{repo}}/pulls/comments/{comment}")
    except NotFoundError:
        return
