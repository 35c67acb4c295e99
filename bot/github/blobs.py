"""Contents by hash: from the cache, then in batches over GraphQL, one by one only where text does not carry them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import Any

from bot.github.cache import BlobCache, blob_sha
from bot.github.client import Client
from bot.github.errors import GitHubError

#: A query with more objects, or with larger ones, runs into GitHub's limits on nodes and time.
_BATCH = 50


async def keep_blobs(client: Client, shas: Iterable[str], cache: BlobCache) -> None:
    """Bring every blob of ``shas`` into ``cache``."""
    missing = sorted({sha for sha in shas if not cache.has(sha)})
    for batch in _batches(missing):
        texts = await _texts(client, batch)
        for sha in batch:
            content = texts.get(sha)
            # GraphQL gives text: binary, cut or re-encoded files do not hash to their name and are read whole.
            if content is None or blob_sha(content, sha) != sha:
                content = await _single(client, sha)
            cache.put(content, like=sha)


def texts_document(shas: Iterable[str]) -> str:
    """The query for the texts of several blobs, the first as ``b0``."""
    fields = "\n".join(f'b{number}: object(oid: "{sha}") {{ ... on Blob {{ text isTruncated }} }}' for number, sha in enumerate(shas))
    return f"query($owner: String!, $name: String!) {{ repository(owner: $owner, name: $name) {{\n{fields}\n}} }}"


async def _texts(client: Client, shas: list[str]) -> dict[str, bytes]:
    owner, _, name = client.full_name.partition("/")
    repository = (await client.query(texts_document(shas), {"owner": owner, "name": name}))["repository"]
    if repository is None:
        raise GitHubError(f"GraphQL: {client.full_name} cannot be read")
    found: dict[str, bytes] = {}
    for number, sha in enumerate(shas):
        blob: dict[str, Any] = repository.get(f"b{number}") or {}
        if blob.get("text") is not None and not blob.get("isTruncated"):
            found[sha] = blob["text"].encode("utf-8", "surrogatepass")
    return found


async def _single(client: Client, sha: str) -> bytes:
    answer = await client.get(f"{{repo}}/git/blobs/{sha}")
    return base64.b64decode(answer["content"])


def _batches(shas: list[str]) -> Iterator[list[str]]:
    return (shas[start : start + _BATCH] for start in range(0, len(shas), _BATCH))
