"""Posting a review: the completed check, the review on the lines, then the memory comment; each looked up before it is written."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from analysis.settings import CommentStyle
from bot.chains.check_id import external_id
from bot.chains.fates import Fates
from bot.chains.review_result import RETIRED, Result
from bot.chains.review_state import again, settings_or_default, unfinished
from bot.chains.withdraw_check import REPLACED
from bot.github.checks import complete_check, find_check
from bot.github.client import Client
from bot.github.comments import hide_and_add, marked, set_comment
from bot.github.configuration import configuration_at
from bot.github.conversation import read_conversation
from bot.github.errors import GitHubError
from bot.github.pull import read_pull
from bot.github.reviews import post_on_file, post_review
from bot.github.threads import close_thread, gone
from bot.job import Json, Outcome
from bot.review.action import RERUN
from bot.review.check_run import check_output
from bot.review.comment import MEMORY
from bot.review.configuration_note import configuration_annotations
from bot.review.inline import InlineReview
from bot.review.memory_suggestion import memory_paths
from bot.review.result import Review
from bot.review.review_json import review_from_json
from bot.workplace import Workplace

log = logging.getLogger(__name__)


class _ReplacedError(Exception):
    """The head moved to ``head`` while we were writing."""

    def __init__(self, head: str) -> None:
        super().__init__(head)
        self.head = head


@dataclass(frozen=True, slots=True)
class Publisher:
    """Writes results. A crash between two writes repeats the step; what is there already is found and left."""

    place: Workplace

    async def publish(self, state: Json) -> Outcome:
        """Post what the analysis found, or why it found nothing.

        The check comes first: a team may wait for it before it merges, and a second lies between any two writes.
        """
        async with self.place.alone(state):
            return await self._publish(self.place.client(state), state)

    async def retire_comment(self, facts: Json) -> None:
        """An earlier push may have left a memory comment that no longer holds, and threads about code that is gone."""
        client, signer = self.place.client(facts), self.place.signer(facts)
        conversation = await read_conversation(client, facts["number"], diff=True)
        existing = marked(conversation.comments, signer, MEMORY)
        if existing:
            await set_comment(client, facts["number"], existing, f"{signer.mark(MEMORY)}\n{RETIRED}")
        for thread in gone(conversation.threads, signer, ()):
            await close_thread(client, facts["number"], thread, signer, conversation.head)

    async def _publish(self, client: Client, state: Json) -> Outcome:
        run = await find_check(client, self.place.settings.app_id, state["head"], external_id(state, state["head"]))
        if run is None:
            raise GitHubError("the check run that was begun is gone")
        if "stopped" in state:
            await complete_check(client, run, unfinished(state["stopped"]), actions=(RERUN,))
            return Outcome("done")
        configuration = await configuration_at(self.place.reader(client), state["tip"])
        result = await self._result(client, state, configuration)
        if result.conversation.head != result.head:
            await complete_check(client, run, REPLACED)
            return again(state, result.conversation.head)
        inline = result.inline()
        annotations = await asyncio.to_thread(configuration_annotations, configuration) + result.annotations(inline)
        await complete_check(client, run, check_output(result.review, result.settings), annotations, actions=result.actions())
        self._count(result.review)
        writer = self._while_current(client, state)
        try:
            await self._post_inline(writer, state, inline)
            for thread in result.gone():
                await close_thread(writer, state["number"], thread, result.signer, result.head)
            await self._post_comment(writer, state, result)
        except _ReplacedError as replaced:
            return again(state, replaced.head)
        try:
            await self._note_fates(client, state, result)
        except SQLAlchemyError:
            log.exception("%s: what became of findings is not counted", client.full_name)  # what was posted counts
        return Outcome("go on", state | {"review": None})

    async def _result(self, client: Client, state: Json, configuration: dict[str, bytes]) -> Result:
        """The review, the files that its suggestions change (the analysis has left them in the cache), and what was said before."""
        review = review_from_json(state["review"])
        reader = self.place.reader(client)
        paths = {edit.path for finding in review.introduced if finding.fix for edit in finding.fix.edits} | memory_paths(review)
        contents = await reader.contents(await reader.tree(state["head"]), paths) if paths else {}
        conversation = await read_conversation(client, state["number"], diff=True)
        return Result(state, review, settings_or_default(configuration), contents, conversation, self.place.signer(state))

    async def _post_inline(self, client: Client, state: Json, inline: InlineReview | None) -> None:
        """Post the review; a line that GitHub refuses gets a comment on its file."""
        if inline is None:
            return
        taken = await post_review(client, state["number"], state["head"], inline)
        for comment in inline.comments:
            if comment not in taken:
                await post_on_file(client, state["number"], state["head"], comment)

    async def _post_comment(self, client: Client, state: Json, result: Result) -> None:
        body = result.memory_body()
        if body is not None:
            write = hide_and_add if result.settings.comment is CommentStyle.HIDE_AND_NEW else set_comment
            await write(client, state["number"], result.memory_comments(), body)

    async def _note_fates(self, client: Client, state: Json, result: Result) -> None:
        """What became of earlier findings is told from the changed files, which are in the cache."""
        if result.review.not_analysed or result.review.problems:
            return
        reader = self.place.reader(client)
        changed = await reader.contents(await reader.tree(result.head), state["changes"]["paths"])
        fates = Fates.of(self.place.ledger, state["repository"], state["number"], result.conversation, result.signer)
        await fates.read_again(result.review.introduced, (raw.decode("utf-8", "replace") for raw in changed.values()))

    def _count(self, review: Review) -> None:
        counted = self.place.app.transport.metrics.findings
        for outcome, findings in (("introduced", review.introduced), ("fixed", review.fixed), ("existing", review.existing)):
            for finding in findings:
                counted.add(rule=finding.rule, outcome=outcome)

    def _while_current(self, client: Client, state: Json) -> Client:
        """A client that writes only while the head is the one that was read: a turn to write may be long in coming."""

        async def current() -> None:
            head = (await read_pull(client, state["number"])).head
            if head != state["head"]:
                raise _ReplacedError(head)

        return client.provided(current)
