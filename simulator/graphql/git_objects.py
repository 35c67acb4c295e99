"""Blobs, trees, commits and references as GraphQL shows them."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from simulator.clock import iso
from simulator.graphql.connections import Object
from simulator.ids import node_id
from simulator.representation.repositories import web_url

if TYPE_CHECKING:
    from simulator.git.objects import TreeEntry
    from simulator.repository import Repository

_BINARY_PROBE_BYTES = 8000


def git_object(repository: Repository, expression: str) -> Object | None:
    """The object that an expression or an id stands for, None when there is none."""
    found = repository.git.look_up(expression)
    if found is None:
        return None
    sha, kind, content = found
    shown: Object = {"id": f"{kind[0].upper()}_{repository.id}_{sha}", "oid": sha, "abbreviatedOid": sha[:7]}
    match kind:
        case "blob":
            return {**shown, "__typename": "Blob", **_blob(repository, content)}
        case "tree":
            entries = repository.git.entries(sha)
            return {**shown, "__typename": "Tree", "entries": lambda _info: [_entry(repository, one) for one in entries]}
        case _:
            return commit(repository, sha)


def commit(repository: Repository, sha: str) -> Object:
    """A commit."""
    stored = repository.git.commit_of(sha)
    return {
        "__typename": "Commit",
        "id": f"C_{repository.id}_{sha}",
        "oid": stored.sha,
        "abbreviatedOid": stored.sha[:7],
        "message": stored.message,
        "committedDate": iso(stored.committer.date),
        "tree": lambda _info: git_object(repository, stored.tree),
        "url": f"{web_url(repository)}/commit/{sha}",
    }


def reference(repository: Repository, name: str) -> Object | None:
    """A reference by its full name."""
    sha = repository.git.resolve(name)
    if sha is None:
        return None
    prefix, _, short = name.rpartition("/") if not name.startswith("refs/heads/") else ("refs/heads", "", name[11:])
    return {
        "id": node_id("REF", repository.id) + sha,
        "name": short,
        "prefix": f"{prefix}/",
        "target": lambda _info: git_object(repository, sha),
    }


def _blob(repository: Repository, content: bytes) -> Object:
    limit = repository.platform.limits.graphql_text_bytes
    binary = b"\0" in content[:_BINARY_PROBE_BYTES]
    return {
        "byteSize": len(content),
        "isBinary": binary,
        "isTruncated": len(content) > limit,
        "text": None if binary else content[:limit].decode(errors="replace"),
    }


def _entry(repository: Repository, entry: TreeEntry) -> Object:
    return {
        "name": entry.path,
        "path": entry.path,
        "mode": int(entry.mode, 8),
        "type": entry.type,
        "oid": entry.sha,
        "size": entry.size or 0,
        "extension": posixpath.splitext(entry.path)[1],
        "object": lambda _info: None if entry.type == "commit" else git_object(repository, entry.sha),
    }
