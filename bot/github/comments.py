"""Comments in the conversation: found again by mark and author, written only when they differ, healed if doubled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.github.client import Client
from bot.github.conversation import Said
from bot.github.errors import NotFoundError
from bot.review.marker import Signer

_HIDE = "mutation($comment: ID!) { minimizeComment(input: {subjectId: $comment, classifier: OUTDATED}) { clientMutationId } }"


def marked(said: Iterable[Said], signer: Signer, kind: str) -> list[Said]:
    """Our texts that carry a genuine mark of ``kind``, oldest first."""
    return [each for each in said if each.is_ours and any(True for _ in signer.facts(kind, each.body))]


async def set_comment(client: Client, number: int, existing: Sequence[Said], body: str) -> None:
    """Make ``body`` the one comment: the oldest of ``existing`` is rewritten if it differs, others go."""
    if not existing:
        await add_comment(client, number, body)
        return
    first, *doubles = existing
    if first.body != body:
        await client.write("PATCH", f"{{repo}}/issues/comments/{first.number}", {"body": body})
    for double in doubles:
        await _delete(client, double.number)


async def hide_and_add(client: Client, number: int, existing: Sequence[Said], body: str) -> None:
    """Say ``body`` in a new comment and fold the older ones away as outdated, unless the latest says it already."""
    if existing and existing[-1].body == body:
        return
    for older in existing:
        await client.mutate(_HIDE, {"comment": older.id})
    await add_comment(client, number, body)


async def add_comment(client: Client, number: int, body: str) -> None:
    """A new comment in the conversation."""
    await client.write("POST", f"{{repo}}/issues/{number}/comments", {"body": body})


async def react(client: Client, comment: int, content: str) -> None:
    """React to a comment; reacting twice is one reaction to GitHub."""
    await client.write("POST", f"{{repo}}/issues/comments/{comment}/reactions", {"content": content})


async def _delete(client: Client, comment: int) -> None:
    try:
        await client.write("DELETE", f"{{repo}}/issues/comments/{comment}")
    except NotFoundError:
        return
