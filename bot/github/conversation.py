"""What was said on a pull request, in one request: comments, reviews and threads, with what is ours told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.github.client import Client
from bot.github.errors import NotFoundError

_ENTRY = "id fullDatabaseId body viewerDidAuthor"
_PAGE = "pageInfo { hasNextPage endCursor }"
_MAX_PAGES = 40
#: In a thread of ours only the first comments matter: its opener, and whether anybody answered.
_DOCUMENT = f"""
query($owner: String!, $name: String!, $number: Int!, $comments: String, $reviews: String, $threads: String,
      $wantComments: Boolean!, $wantReviews: Boolean!, $wantThreads: Boolean!) {{
  repository(owner: $owner, name: $name) {{ pullRequest(number: $number) {{
    headRefOid
    comments(first: 100, after: $comments) @include(if: $wantComments) {{ {_PAGE} nodes {{ {_ENTRY} }} }}
    reviews(first: 100, after: $reviews) @include(if: $wantReviews) {{ {_PAGE} nodes {{ {_ENTRY} }} }}
    reviewThreads(first: 50, after: $threads) @include(if: $wantThreads) {{ {_PAGE} nodes {{
      id isResolved comments(first: 20) {{ totalCount nodes {{ {_ENTRY} }} }}
    }} }}
  }} }}
}}
"""


@dataclass(frozen=True, slots=True)
class Said:
    """One text: its ``id`` for GraphQL, its ``number`` for REST, and whether the App wrote it."""

    id: str
    number: int
    body: str
    is_ours: bool


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread on the diff, its comments oldest first (at most twenty of ``length``)."""

    id: str
    is_resolved: bool
    comments: tuple[Said, ...]
    length: int

    @property
    def opener(self) -> Said | None:
        """The comment that opened it; None where it was deleted on the way."""
        return self.comments[0] if self.comments else None

    @property
    def is_answered(self) -> bool:
        """Whether anybody but the App wrote in it."""
        return self.length > len(self.comments) or any(not said.is_ours for said in self.comments)


@dataclass(frozen=True, slots=True)
class Conversation:
    """All of it, oldest first; ``head`` is the pull request's commit at that moment."""

    head: str
    comments: tuple[Said, ...]
    reviews: tuple[Said, ...] = ()
    threads: tuple[Thread, ...] = ()


async def read_conversation(client: Client, number: int, *, diff: bool) -> Conversation:
    """The conversation of pull request ``number``, that on the ``diff`` (reviews and threads) if asked for.

    Raises NotFoundError where there is no such pull request.
    """
    found: dict[str, list[Any]] = {"comments": [], "reviews": [], "reviewThreads": []}
    cursors: dict[str, str | None] = dict.fromkeys(found if diff else ["comments"])
    head = ""
    for _ in range(_MAX_PAGES):
        pull = await _page(client, number, cursors)
        head = pull["headRefOid"]
        ends = {name: pull[name]["pageInfo"] for name in cursors}
        for name in cursors:
            found[name] += pull[name]["nodes"]
        cursors = {name: end["endCursor"] for name, end in ends.items() if end["hasNextPage"]}
        if not cursors:
            break
    comments, reviews = (tuple(map(_said, found[name])) for name in ("comments", "reviews"))
    return Conversation(head, comments, reviews, tuple(map(_thread, found["reviewThreads"])))


async def _page(client: Client, number: int, cursors: dict[str, str | None]) -> dict[str, Any]:
    owner, _, name = client.full_name.partition("/")
    variables = {
        "owner": owner,
        "name": name,
        "number": number,
        "comments": cursors.get("comments"),
        "reviews": cursors.get("reviews"),
        "threads": cursors.get("reviewThreads"),
        "wantComments": "comments" in cursors,
        "wantReviews": "reviews" in cursors,
        "wantThreads": "reviewThreads" in cursors,
    }
    repository = (await client.query(_DOCUMENT, variables))["repository"]
    pull: dict[str, Any] | None = repository and repository["pullRequest"]
    if pull is None:
        raise NotFoundError(f"GraphQL: {client.full_name} has no pull request {number}", 404)
    return pull


def _said(node: dict[str, Any]) -> Said:
    return Said(node["id"], int(node["fullDatabaseId"]), node["body"] or "", node["viewerDidAuthor"])


def _thread(node: dict[str, Any]) -> Thread:
    comments = node["comments"]
    return Thread(node["id"], node["isResolved"], tuple(map(_said, comments["nodes"])), comments["totalCount"])
