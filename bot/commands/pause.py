"""`/preflight pause` leaves new pushes to this pull request unread until `/preflight resume`; its checks complete as skipped."""

from __future__ import annotations

from bot.chains.pause import PAUSED
from bot.commands.command import Command, Reply, Request


async def _run(_request: Request) -> Reply:
    return Reply("Paused: new pushes are not read until `/preflight resume`. `/preflight check` asks for one look.", marks=(PAUSED,))


COMMAND = Command("pause", __doc__, _run)
