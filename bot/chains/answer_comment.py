"""Commands in a comment: seen at once, answered once, by whoever may give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analysis.nearest import did_you_mean
from bot.chains.workplace import Workplace
from bot.commands import commands
from bot.commands.command import Command, Permission, Request
from bot.github.client import Client
from bot.github.comments import add_comment, find_comments, react
from bot.github.errors import NotFoundError
from bot.github.pull import read_pull
from bot.job import Chain, Json, Outcome, Step
from bot.redact import redacted
from bot.review import limits
from bot.review.marker import Signer
from bot.review.text import code, prose

_REPLY = "reply"
_MARK_CHARACTERS = 200


def answer_chain(place: Workplace) -> Chain:
    """React, then answer."""
    answering = Answering(place)
    return Chain((Step("acknowledge", answering.acknowledge), Step("answer", answering.answer)), answering.failed)


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers one comment; its reply carries the comment's id, so that it is given once."""

    place: Workplace

    async def acknowledge(self, facts: Json) -> Outcome:
        """Show that the command was seen."""
        await react(self.place.client(facts), facts["comment"], "eyes")
        return Outcome("go on", facts)

    async def answer(self, facts: Json) -> Outcome:
        """Run the commands and reply, unless a run before a crash already has."""
        client = self.place.client(facts)
        if not await self._answered(client, facts):
            permission = await _permission(client, facts["author"])
            answers = [await self._one(client, facts, tuple(words), permission) for words in facts["commands"]]
            await self._reply(client, facts, "\n\n".join(answers))
        return Outcome("done")

    async def failed(self, facts: Json, reason: str) -> None:
        """Say so where the answer would stand."""
        client = self.place.client(facts)
        if not await self._answered(client, facts):
            await self._reply(client, facts, f"Preflight could not answer: {prose(redacted(reason))}")

    async def _one(self, client: Client, facts: Json, words: tuple[str, ...], permission: Permission) -> str:
        word, *rest = words
        command = commands().get(word)
        if command is None:
            return f"There is no command {code(word)}{prose(did_you_mean(word, commands()))}. {code('/preflight help')} lists them."
        if permission < command.needs:
            return _denied(command)
        pull = await read_pull(client, facts["number"])
        return await command.run(Request(client, self.place.reader(client), pull, self.place.settings, tuple(rest)))

    async def _answered(self, client: Client, facts: Json) -> bool:
        replies = await find_comments(client, facts["number"], await self.place.app.login(), self._signer(facts), _REPLY)
        return any(_comment_fact(facts) in self._signer(facts).facts(_REPLY, reply["body"]) for reply in replies)

    async def _reply(self, client: Client, facts: Json, text: str) -> None:
        mark = self._signer(facts).mark(_REPLY, _comment_fact(facts))
        body = limits.cut_markdown(text, limits.BODY_CHARACTERS - _MARK_CHARACTERS)
        await add_comment(client, facts["number"], f"{mark}\n{body}")

    def _signer(self, facts: Json) -> Signer:
        return self.place.signer(facts)


async def _permission(client: Client, login: str) -> Permission:
    """What ``login`` may do in the repository now; a stranger to it may nothing."""
    try:
        answer: dict[str, Any] = await client.get(f"{{repo}}/collaborators/{login}/permission")
    except NotFoundError:
        return Permission.NONE
    return Permission[answer["permission"].upper()]


def _denied(command: Command) -> str:
    return f"{code('/preflight ' + command.word)} needs {command.needs.name.lower()} access to this repository."


def _comment_fact(facts: Json) -> str:
    return f"{facts['comment']:x}"
