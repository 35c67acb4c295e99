"""The files of a commit, from the recursive tree; kept by commit, since a commit's tree never changes."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.github.cache import write_whole
from bot.github.client import Client
from bot.github.errors import GitHubError

log = logging.getLogger(__name__)

_FILE_MODES = {"100644", "100755"}  # no links: they may point out of the repository; no submodules
_MAX_SUBTREES = 2_000


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A regular file: the name of its blob and its size in bytes."""

    sha: str
    size: int


Tree = dict[str, TreeFile]


async def tree_of(client: Client, commit: str, folder: Path) -> Tree:
    """The regular files of ``commit`` by path. ``folder`` is the cache of the installation."""
    kept = folder / "trees" / str(client.repository) / f"{commit}.json"
    if kept.exists():
        return {path: TreeFile(sha, size) for path, (sha, size) in json.loads(kept.read_bytes()).items()}
    answer = await client.get(f"{{repo}}/git/trees/{commit}", recursive="1")
    entries = [entry async for entry in _walk(client, commit)] if answer["truncated"] else list(_prefixed("", answer["tree"]))
    tree = {path: TreeFile(entry["sha"], entry.get("size", 0)) for path, entry in entries if _is_file(entry)}
    write_whole(kept, json.dumps({path: [file.sha, file.size] for path, file in tree.items()}).encode())
    return tree


def _is_file(entry: dict[str, Any]) -> bool:
    return entry["type"] == "blob" and entry["mode"] in _FILE_MODES


def _prefixed(prefix: str, entries: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((prefix + entry["path"], entry) for entry in entries)


async def _walk(client: Client, root: str) -> Any:
    """Entries of a tree too large for one answer, folder by folder."""
    folders = [("", root)]
    read = 0
    while folders:
        prefix, sha = folders.pop()
        read += 1
        if read > _MAX_SUBTREES:
            raise GitHubError(f"the tree of {root} has more than {_MAX_SUBTREES:,} folders")
        answer = await client.get(f"{{repo}}/git/trees/{sha}")
        if answer["truncated"]:
            log.info("the folder %s of %s has more files than GitHub lists: what it lists is read", prefix or "/", root)
        for path, entry in _prefixed(prefix, answer["tree"]):
            if entry["type"] == "tree":
                folders.append((f"{path}/", entry["sha"]))
            yield path, entry
