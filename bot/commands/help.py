"""`/preflight help` lists the commands."""

from __future__ import annotations

from bot.commands.command import Command, Permission, Request


async def _run(_request: Request) -> str:
    from bot.commands import commands  # noqa: PLC0415  # the package lists this file too

    return "\n".join(["Commands, each alone on a line of a new comment:", "", *(f"- {_line(command)}" for command in commands().values())])


def _line(command: Command) -> str:
    needs = " (needs write access)" if command.needs >= Permission.WRITE else ""
    return " ".join(command.help.split()) + needs


COMMAND = Command("help", __doc__, Permission.READ, _run)
