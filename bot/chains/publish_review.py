"""Posting a review: the completed check, the review on the lines, then the memory comment; each looked up before it is written."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from analysis.finding import Safety
from analysis.settings import CommentStyle, Settings
from bot.chains.check_id import external_id
from bot.chains.review_state import again, diff_of, settings_or_default, unfinished
from bot.chains.withdraw_check import REPLACED
from bot.github.checks import complete_check, find_check
from bot.github.client import Client
from bot.github.comments import hide_and_add, marked, set_comment
from bot.github.configuration import configuration_at
from bot.github.conversation import Conversation, read_conversation
from bot.github.errors import GitHubError
from bot.github.pull import read_pull
from bot.github.reviews import post_on_file, post_review, posted_in
from bot.github.threads import close_thread, gone
from bot.job import Json, Outcome
from bot.review.action import APPLY_FIXES, RERUN, Action
from bot.review.annotation import Annotation, annotate
from bot.review.check_run import check_output
from bot.review.comment import MEMORY, memory_comment
from bot.review.configuration_note import configuration_annotations
from bot.review.inline import InlineReview, inline_review
from bot.review.located import LocatedFinding
from bot.review.marker import digest
from bot.review.result import Review
from bot.review.review_json import review_from_json
from bot.review.suggestion import as_lines
from bot.workplace import Workplace

_RETIRED = "This change no longer touches training code."


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
            return await self._publish(state)

    async def _publish(self, state: Json) -> Outcome:
        client = self.place.client(state)
        run = await find_check(client, self.place.settings.app_id, state["head"], external_id(state, state["head"]))
        if run is None:
            raise GitHubError("the check run that was begun is gone")
        if "stopped" in state:
            await complete_check(client, run, unfinished(state["stopped"]), actions=(RERUN,))
            return Outcome("done")
        review = review_from_json(state["review"])
        configuration = await configuration_at(self.place.reader(client), state["tip"])
        settings = settings_or_default(configuration)
        contents = await self._contents(client, state, review)
        conversation = await read_conversation(client, state["number"], diff=True)
        if conversation.head != state["head"]:
            await complete_check(client, run, REPLACED)
            return again(state, conversation.head)
        inline, shown = self._inline(state, review, settings, contents, conversation)
        annotations = await asyncio.to_thread(configuration_annotations, configuration) + _annotations(review, shown, contents)
        await complete_check(client, run, check_output(review, settings), annotations, actions=_actions(review))
        self._count(review)
        writer = self._while_current(client, state)
        try:
            await self._post_inline(writer, state, inline)
            await self._close_threads(writer, state, review, conversation)
            await self._post_comment(writer, state, review, settings, conversation)
        except _ReplacedError as replaced:
            return again(state, replaced.head)
        return Outcome("go on", state | {"review": None})

    def _count(self, review: Review) -> None:
        counted = self.place.app.transport.metrics.findings
        for outcome, findings in (("introduced", review.introduced), ("fixed", review.fixed), ("existing", review.existing)):
            for finding in findings:
                counted.add(rule=finding.rule, outcome=outcome)

    async def retire_comment(self, facts: Json) -> None:
        """An earlier push may have left a memory comment that no longer holds, and threads about code that is gone."""
        client, signer = self.place.client(facts), self.place.signer(facts)
        conversation = await read_conversation(client, facts["number"], diff=True)
        existing = marked(conversation.comments, signer, MEMORY)
        if existing:
            await set_comment(client, facts["number"], existing, f"{signer.mark(MEMORY)}\n{_RETIRED}")
        for thread in gone(conversation.threads, signer, ()):
            await close_thread(client, facts["number"], thread, signer, conversation.head)

    def _inline(
        self, state: Json, review: Review, settings: Settings, contents: dict[str, bytes], conversation: Conversation
    ) -> tuple[InlineReview | None, set[str]]:
        """The review that is still to be posted, once a head, and the digests of the findings that have a thread or get one by it."""
        signer, head = self.place.signer(state), state["head"]
        posted = posted_in(conversation, signer)
        inline = None
        if settings.suggestions and head not in posted.heads:
            inline = inline_review(review.introduced, diff_of(state), contents, signer, head, posted.findings)
        planned = () if inline is None else inline.shown
        return inline, {*posted.findings, *(digest(finding.fingerprint) for finding in planned)}

    async def _post_inline(self, client: Client, state: Json, inline: InlineReview | None) -> None:
        """Post the review; a line that GitHub refuses gets a comment on its file."""
        if inline is None:
            return
        taken = await post_review(client, state["number"], state["head"], inline)
        for comment in inline.comments:
            if comment not in taken:
                await post_on_file(client, state["number"], state["head"], comment)

    async def _close_threads(self, client: Client, state: Json, review: Review, conversation: Conversation) -> None:
        """Threads of findings that this head no longer has; where a file could not be read, silence about it proves nothing."""
        if review.not_analysed or review.problems:
            return
        signer = self.place.signer(state)
        present = {digest(finding.fingerprint) for finding in (*review.introduced, *review.existing)}
        for thread in gone(conversation.threads, signer, present):
            await close_thread(client, state["number"], thread, signer, state["head"])

    async def _post_comment(self, client: Client, state: Json, review: Review, settings: Settings, conversation: Conversation) -> None:
        comment = memory_comment(review, settings)
        if settings.comment is CommentStyle.OFF:
            return
        signer = self.place.signer(state)
        existing = marked(conversation.comments, signer, MEMORY)
        if comment is None and existing:
            body = f"{signer.mark(MEMORY)}\n{_RETIRED}"
        elif comment is not None and (existing or comment.news):
            body = comment.signed(signer)
        else:
            return
        write = hide_and_add if settings.comment is CommentStyle.HIDE_AND_NEW else set_comment
        await write(client, state["number"], existing, body)

    async def _contents(self, client: Client, state: Json, review: Review) -> dict[str, bytes]:
        """The files of the head that a fix changes; the analysis has left them in the cache."""
        reader = self.place.reader(client)
        paths = {edit.path for finding in review.introduced if finding.fix for edit in finding.fix.edits}
        return await reader.contents(await reader.tree(state["head"]), paths) if paths else {}

    def _while_current(self, client: Client, state: Json) -> Client:
        """A client that writes only while the head is the one that was read: a turn to write may be long in coming."""

        async def current() -> None:
            head = (await read_pull(client, state["number"])).head
            if head != state["head"]:
                raise _ReplacedError(head)

        return client.provided(current)


def _actions(review: Review) -> tuple[Action, ...]:
    """The buttons under a completed check."""
    fixable = any(finding.fix is not None and finding.fix.safety is Safety.SAFE for finding in review.introduced)
    return (APPLY_FIXES, RERUN) if fixable else (RERUN,)


def _annotations(review: Review, shown: set[str], contents: dict[str, bytes]) -> list[Annotation]:
    """Findings without a thread, on whatever line they stand: none is lost."""
    rest = sorted((each for each in review.introduced if digest(each.fingerprint) not in shown), key=lambda each: each.rank)
    return [annotate(finding, _patched(finding, contents)) for finding in rest]


def _patched(finding: LocatedFinding, contents: dict[str, bytes]) -> str | None:
    if finding.fix is None or not finding.fix.edits or finding.fix.edits[0].path not in contents:
        return None
    return as_lines(finding.fix, contents[finding.fix.edits[0].path])
