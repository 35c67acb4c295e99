"""Snapshots of two commits, complete before the analysis starts: it never asks for a file in the middle."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from analysis.snapshot import Snapshot
from bot.github.archive import keep_archive
from bot.github.blobs import keep_blobs
from bot.github.cache import BlobCache
from bot.github.client import Client
from bot.github.tree import Tree, tree_of
from bot.github.wanted import Chosen, choose
from bot.settings import WorkerLimits
from bot.wanted_files import is_wanted

#: From here on one archive costs less than batches of blobs.
_ARCHIVE_FROM = 150


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads commits of one repository through the cache of its installation."""

    client: Client
    folder: Path
    limits: WorkerLimits

    @property
    def cache(self) -> BlobCache:
        """The blobs of the installation."""
        return BlobCache(self.folder)

    def knows_repository(self) -> bool:
        """Whether a commit of this repository was read before."""
        return (self.folder / "trees" / str(self.client.repository)).is_dir()

    async def tree(self, commit: str) -> Tree:
        """The regular files of ``commit``."""
        return await tree_of(self.client, commit, self.folder)

    async def contents(self, tree: Tree, paths: Iterable[str]) -> dict[str, bytes]:
        """The contents of those ``paths`` that ``tree`` has."""
        files = {path: tree[path].sha for path in paths if path in tree}
        await keep_blobs(self.client, files.values(), self.cache)
        return await asyncio.to_thread(self._load, files)

    async def snapshots(self, base: str, head: str, changed: Iterable[str]) -> tuple[Snapshot, Snapshot, int]:
        """The two commits, and how many files of the head were left out for their number or size."""
        paths = sorted(set(changed))
        trees = [await self.tree(base), await self.tree(head)]
        chosen = [choose(tree, paths, self.limits) for tree in trees]
        await self._bring(head, chosen)
        loaded = [await asyncio.to_thread(self._load, {path: file.sha for path, file in each.files.items()}) for each in chosen]
        pairs = zip(trees, loaded, (base, head), strict=True)
        before, after = (Snapshot(frozenset(tree), contents, commit) for tree, contents, commit in pairs)
        return before, after, chosen[1].left_out

    async def _bring(self, head: str, chosen: list[Chosen]) -> None:
        needed = {file.sha for each in chosen for file in each.files.values()}
        missing = {sha for sha in needed if not self.cache.has(sha)}
        if len(missing) > _ARCHIVE_FROM:
            await keep_archive(self.client, head, self.cache, is_wanted)
        await keep_blobs(self.client, missing, self.cache)

    def _load(self, files: dict[str, str]) -> dict[str, bytes]:
        loaded = {}
        for path, sha in files.items():
            content = self.cache.get(sha)
            if content is not None:
                loaded[path] = content
        return loaded
