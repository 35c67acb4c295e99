"""`/preflight help` lists the commands."""

from __future__ import annotations

from bot.commands.command import Command, Reply, Request


async def _run(_request: Request) -> Reply:
    from bot.commands import commands  # noqa: PLC0415  # the package lists this file too

    lines = [f"- {' '.join(command.help.split())}" for command in commands().values()]
    return Reply("\n".join(["Commands, each alone on a line of a new comment by somebody who may write to this repository:", "", *lines]))


COMMAND = Command("help", __doc__, _run)
