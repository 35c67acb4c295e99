"""The repository's configuration files, from the tip of the base branch: a pull request cannot change its own judge."""

from __future__ import annotations

from analysis.settings_file import FILES, MAX_BYTES
from bot.github.client import Client
from bot.github.pull import Pull, branch_tip
from bot.github.snapshots import Reader


async def configuration_of(client: Client, reader: Reader, pull: Pull) -> tuple[str, dict[str, bytes]]:
    """The commit at the tip of the base branch, and the configuration files there that are small enough to be one."""
    tip = await branch_tip(client, pull.base_ref)
    tree = await reader.tree(tip)
    files = [path for path in FILES if path in tree and tree[path].size <= MAX_BYTES]
    return tip, await reader.contents(tree, files)
