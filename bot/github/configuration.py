"""The repository's configuration files, from the tip of the base branch: a pull request cannot change its own judge."""

from __future__ import annotations

from analysis.settings_file import FILES, MAX_BYTES
from bot.github.client import Client
from bot.github.pull import Pull, branch_tip
from bot.github.snapshots import Reader


async def configuration_of(client: Client, reader: Reader, pull: Pull) -> tuple[str, dict[str, bytes]]:
    """The commit at the tip of the base branch, and the configuration files there."""
    tip = await branch_tip(client, pull.base_ref)
    return tip, await configuration_at(reader, tip)


async def configuration_at(reader: Reader, commit: str) -> dict[str, bytes]:
    """The configuration files of ``commit`` that are small enough to be one; a second time they come from the cache."""
    tree = await reader.tree(commit)
    return await reader.contents(tree, [path for path in FILES if path in tree and tree[path].size <= MAX_BYTES])
