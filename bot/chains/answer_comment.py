"""Commands in a comment, and the buttons of a check: seen at once, answered once, for whoever may write to the repository."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from analysis.nearest import did_you_mean
from bot.commands import commands
from bot.commands.command import CommandError, Reply, Request, asked_by
from bot.github.client import Client
from bot.github.comments import add_comment, marked, react
from bot.github.conversation import read_conversation
from bot.github.errors import NotFoundError
from bot.github.pull import read_pull
from bot.job import Chain, Job, Json, Outcome, Step
from bot.redact import redacted
from bot.review import limits
from bot.review.marker import Signer
from bot.review.text import code, prose
from bot.workplace import Workplace

_REPLY = "reply"
_MARK_CHARACTERS = 400
_MAY_WRITE = frozenset({"write", "admin"})


def answer_chain(place: Workplace) -> Chain:
    """React, do what is asked, then say so: what was done is stored before it is said."""
    answering = Answering(place)
    steps = (Step("acknowledge", answering.acknowledge, light=True), Step("answer", answering.answer), Step("reply", answering.reply))
    return Chain(steps, answering.failed)


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers one comment; its reply carries what asked for it, so that it is given once."""

    place: Workplace

    async def acknowledge(self, facts: Json) -> Outcome:
        """Show that the command was seen; who may not write gets no more than that."""
        client = self.place.client(facts)
        may = await may_write(client, facts["author"])
        if facts["comment"]:
            await react(client, facts["comment"], "eyes" if may else "confused")
        return Outcome("go on", facts) if may else Outcome("done")

    async def answer(self, facts: Json) -> Outcome:
        """Run the commands. What the author may do is asked again: a job may have waited."""
        client = self.place.client(facts)
        if not await may_write(client, facts["author"]):
            return Outcome("done")
        replies = [await self._one(client, facts, tuple(words)) for words in facts["commands"]]
        following = {job.key: asdict(job) for reply in replies for job in reply.follow}
        said = {
            "text": "\n\n".join(reply.text for reply in replies),
            "marks": [mark for reply in replies for mark in reply.marks],
            "follow": list(following.values()),
        }
        return Outcome("go on", facts | said)

    async def reply(self, state: Json) -> Outcome:
        """Post the answer, unless a run before a crash already has."""
        client = self.place.client(state)
        if not await self._answered(client, state):
            await self._reply(client, state, state["text"], state["marks"])
        return Outcome("done", follow=tuple(Job(**job) for job in state["follow"]))

    async def failed(self, facts: Json, reason: str) -> None:
        """Say so where the answer would stand, to whoever may ask; a stranger hears nothing, whatever goes wrong."""
        client = self.place.client(facts)
        if await may_write(client, facts["author"]) and not await self._answered(client, facts):
            await self._reply(client, facts, f"Preflight could not answer: {prose(redacted(reason))}")

    async def _one(self, client: Client, facts: Json, words: tuple[str, ...]) -> Reply:
        word, *rest = words
        command = commands().get(word)
        if command is None:
            return Reply(f"There is no command {code(word)}{prose(did_you_mean(word, commands()))}. {code('/preflight help')} lists them.")
        pull = await read_pull(client, facts["number"])
        try:
            return await command.run(Request(self.place, facts, client, pull, tuple(rest)))
        except CommandError as error:
            return Reply(prose(str(error)))

    async def _answered(self, client: Client, facts: Json) -> bool:
        conversation = await read_conversation(client, facts["number"], diff=False)
        replies = marked(conversation.comments, self._signer(facts), _REPLY)
        return any(asked_by(facts) in self._signer(facts).facts(_REPLY, reply.body) for reply in replies)

    async def _reply(self, client: Client, facts: Json, text: str, marks: Iterable[str] = ()) -> None:
        signer = self._signer(facts)
        hidden = "\n".join([signer.mark(_REPLY, asked_by(facts)), *map(signer.mark, marks)])
        body = limits.cut_markdown(text, limits.BODY_CHARACTERS - _MARK_CHARACTERS)
        await add_comment(client, facts["number"], f"{hidden}\n{body}")

    def _signer(self, facts: Json) -> Signer:
        return self.place.signer(facts)


async def may_write(client: Client, login: str) -> bool:
    """Whether ``login`` may write to the repository now; GitHub counts maintainers among those who write, and triage among those who read."""
    try:
        answer: dict[str, Any] = await client.get(f"{{repo}}/collaborators/{login}/permission")
    except NotFoundError:
        return False
    return answer["permission"] in _MAY_WRITE
