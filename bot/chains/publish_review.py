"""Posting a review: the review on the lines, the memory comment, then the completed check; each looked up before it is written."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.settings import CommentStyle, Settings
from bot.chains.check_id import external_id
from bot.chains.review_state import diff_of, settings_or_default, unfinished
from bot.chains.withdraw_check import REPLACED
from bot.chains.workplace import Workplace
from bot.github.checks import complete_check, find_check
from bot.github.client import Client
from bot.github.comments import find_comments, hide_and_add, set_comment
from bot.github.configuration import configuration_of
from bot.github.errors import GitHubError
from bot.github.pull import read_pull
from bot.github.reviews import post_review, read_posted
from bot.job import Json, Outcome
from bot.review.annotation import Annotation, annotate
from bot.review.check_run import check_output
from bot.review.comment import MEMORY, memory_comment
from bot.review.inline import inline_review
from bot.review.located import LocatedFinding
from bot.review.marker import digest
from bot.review.result import Review
from bot.review.review_json import review_from_json
from bot.review.suggestion import as_lines

_RETIRED = "This change no longer touches training code."


class _ReplacedError(Exception):
    """The head moved while we were writing: the newer commit has a job of its own."""


@dataclass(frozen=True, slots=True)
class Publisher:
    """Writes results. A crash between two writes repeats the step; what is there already is found and left."""

    place: Workplace

    async def publish(self, state: Json) -> Outcome:
        """Post what the analysis found, or why it found nothing."""
        client = self.place.client(state)
        run = await find_check(client, self.place.settings.app_id, state["head"], external_id(state, state["head"]))
        if run is None:
            raise GitHubError("the check run that was begun is gone")
        if "stopped" in state:
            await complete_check(client, run, unfinished(state["stopped"]))
            return Outcome("done")
        review = review_from_json(state["review"])
        settings = settings_or_default((await self._configuration(client, state))[1])
        try:
            annotations = await self._post_suggestions(client, state, review, settings)
            await self._post_comment(client, state, review, settings)
        except _ReplacedError:
            await complete_check(client, run, REPLACED)
            return Outcome("done")
        await complete_check(client, run, check_output(review, settings), annotations)
        return Outcome("done")

    async def retire_comment(self, facts: Json) -> None:
        """An earlier push may have left a memory comment that no longer holds."""
        client = self.place.client(facts)
        existing = await find_comments(client, facts["number"], await self.place.app.login(), self.place.signer(facts), MEMORY)
        if existing:
            await set_comment(client, facts["number"], existing, f"{self.place.signer(facts).mark(MEMORY)}\n{_RETIRED}")

    async def _configuration(self, client: Client, state: Json) -> tuple[str, dict[str, bytes]]:
        pull = await read_pull(client, state["number"])
        return await configuration_of(client, self.place.reader(client), pull)

    async def _post_suggestions(self, client: Client, state: Json, review: Review, settings: Settings) -> list[Annotation]:
        """Post the review, once a head; gives annotations for all findings that have no thread."""
        signer, login, head = self.place.signer(state), await self.place.app.login(), state["head"]
        contents = await self._contents(client, state, review)
        posted = await read_posted(client, state["number"], login, signer)
        shown = set(posted.findings)
        if settings.suggestions and head not in posted.heads:
            inline = inline_review(review.introduced, diff_of(state), contents, signer, head, posted.findings)
            if inline is not None:
                await self._require_current(client, state)
                if await post_review(client, state["number"], head, inline):
                    shown |= {digest(finding.fingerprint) for finding in inline.shown}
        rest = sorted((each for each in review.introduced if digest(each.fingerprint) not in shown), key=lambda each: each.rank)
        return [annotate(finding, _patched(finding, contents)) for finding in rest]

    async def _post_comment(self, client: Client, state: Json, review: Review, settings: Settings) -> None:
        comment = memory_comment(review, settings)
        if settings.comment is CommentStyle.OFF:
            return
        signer, number = self.place.signer(state), state["number"]
        existing = await find_comments(client, number, await self.place.app.login(), signer, MEMORY)
        if comment is None and existing:
            body = f"{signer.mark(MEMORY)}\n{_RETIRED}"
        elif comment is not None and (existing or comment.news):
            body = comment.signed(signer)
        else:
            return
        await self._require_current(client, state)
        write = hide_and_add if settings.comment is CommentStyle.HIDE_AND_NEW else set_comment
        await write(client, number, existing, body)

    async def _contents(self, client: Client, state: Json, review: Review) -> dict[str, bytes]:
        """The files of the head that a fix changes; the analysis has left them in the cache."""
        reader = self.place.reader(client)
        paths = {edit.path for finding in review.introduced if finding.fix for edit in finding.fix.edits}
        return await reader.contents(await reader.tree(state["head"]), paths) if paths else {}

    async def _require_current(self, client: Client, state: Json) -> None:
        if (await read_pull(client, state["number"])).head != state["head"]:
            raise _ReplacedError


def _patched(finding: LocatedFinding, contents: dict[str, bytes]) -> str | None:
    if finding.fix is None or not finding.fix.edits or finding.fix.edits[0].path not in contents:
        return None
    return as_lines(finding.fix, contents[finding.fix.edits[0].path])
