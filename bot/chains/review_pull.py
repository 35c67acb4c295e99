"""A pull request's review, from its commits to what is posted: begin, analyse, publish."""

from __future__ import annotations

import time
from dataclasses import dataclass

from analysis.settings import Settings
from bot.chains.check_id import external_id
from bot.chains.fates import Fates
from bot.chains.pause import is_paused
from bot.chains.publish_review import Publisher
from bot.chains.review_state import again, changes_to_json, pull_from_json, pull_to_json, settings_or_default, unfinished, unlisted
from bot.chains.scan_branch import Scanning
from bot.events.payload import SKIP_LABEL
from bot.github.checks import amend_check, begin_check, complete_check, find_check
from bot.github.client import Client
from bot.github.configuration import configuration_at, configuration_of
from bot.github.conversation import read_conversation
from bot.github.pull import Pull, merge_base, read_changes, read_pull
from bot.github.wanted import touches_training
from bot.history import ReplacedJobError, require_wanted
from bot.job import Chain, Json, Outcome, Step
from bot.redact import redacted
from bot.review.action import RERUN
from bot.review.check_run import CheckOutput, notice_output
from bot.review.sizes import counted
from bot.review.text import prose
from bot.worker.run import Stopped, run_task
from bot.worker.wire import Task
from bot.workplace import Workplace

#: After that a crash or a limit lies between looking and writing: the head may have moved.
_LOOK_HOLDS_SECONDS = 5.0

_SKIPPED_BY_LABEL = notice_output("skipped", "Skipped", f"The label `{SKIP_LABEL}` asks Preflight to leave this pull request alone.")
_SKIPPED_DRAFT = notice_output(
    "skipped", "Skipped: draft", "Drafts are read once they are ready for review, or always with `drafts = true` in the configuration."
)
_PAUSED = notice_output("skipped", "Paused", "`/preflight resume` lets Preflight read new pushes again; `/preflight check` asks for one look.")
_CLOSED = notice_output("cancelled", "Closed", "The pull request was closed before it was read.")
NOTHING_TO_READ = notice_output(
    "success", "No training code changed", "No Python code, configuration or launch script is among the changed files, so there was nothing to read."
)


def review_chain(place: Workplace) -> Chain:
    """The steps. The analysis is cancelled at once when a newer push replaces it; the others look at the head themselves."""
    reviewing = Reviewing(place)
    publisher = Publisher(place)
    steps = (
        Step("look", reviewing.look, light=True),
        Step("begin", reviewing.begin, light=True),
        Step("analyse", reviewing.analyse, interruptible=True),
        Step("publish", publisher.publish),
        Step("scan", Scanning(place).scan, interruptible=True),
    )
    return Chain(steps, reviewing.failed)


@dataclass(frozen=True, slots=True)
class Reviewing:
    """Everything before the result is there."""

    place: Workplace

    async def look(self, facts: Json) -> Outcome:
        """Find the current head, which may be newer than the delivery.

        It is stored before anything is written there, so that whoever tidies up after us knows where to look.
        """
        client = self.place.client(facts)
        pull = await read_pull(client, facts["number"])
        if not pull.is_open:
            await self._end(client, facts, pull)
            return Outcome("done")
        return Outcome("go on", facts | {"full_name": pull.full_name, "head": pull.head, "pull": pull_to_json(pull), "looked": time.time()})

    async def begin(self, state: Json) -> Outcome:
        """Show a check run in progress; end it here if nothing is to be read.

        One that is completed already may have lost its review or its comment with the job that a newer delivery replaced.
        """
        if time.time() - state["looked"] > _LOOK_HOLDS_SECONDS and not await self._has_begun(state):
            return again(state, state["head"])
        async with self.place.alone(state):
            try:
                return await self._begin(self.place.client(state), state, pull_from_json(state["pull"]))
            except ReplacedJobError:
                return Outcome("done")

    async def _has_begun(self, state: Json) -> bool:
        """Whether a former try has begun the check: then that is to be ended, be it only as replaced, and not left for another head."""
        return await find_check(self.place.client(state), self.place.settings.app_id, state["head"], external_id(state, state["head"])) is not None

    async def _begin(self, client: Client, state: Json, pull: Pull) -> Outcome:
        run = await begin_check(client.provided(require_wanted), self.place.settings.app_id, pull.head, external_id(state, pull.head))
        tip, configuration = await configuration_of(client, self.place.reader(client), pull)
        skipped = await self._skipped(client, state, pull, settings_or_default(configuration))
        if skipped is not None:
            await complete_check(client, run, skipped, actions=(RERUN,))
            return Outcome("done")
        changes = await read_changes(client, pull.number)
        if not touches_training(changes.paths):
            await Publisher(self.place).retire_comment(state)
            await complete_check(client, run, NOTHING_TO_READ)
            return Outcome("done")
        read = {"ref": f"refs/pull/{pull.number}/head", "tip": tip, "changes": changes_to_json(changes), "unlisted": unlisted(pull, changes)}
        return Outcome("go on", state | read)

    async def analyse(self, state: Json) -> Outcome:
        """Bring both commits here and have a worker compare them."""
        client = self.place.client(state)
        reader = self.place.reader(client)
        configuration = await configuration_at(reader, state["tip"])
        base = await merge_base(client, state["tip"], state["head"])
        before, after, left_out = await reader.snapshots(base, state["head"], state["changes"]["paths"])
        kept = self.place.kept(client)
        answer = await run_task(Task("review", before, after, configuration, state["tip"], kept=await kept.read()), self.place.settings)
        if isinstance(answer, Stopped):
            return Outcome("go on", state | {"stopped": answer.reason})
        await kept.add(answer.get("kept", {}))
        review = answer["review"]
        review["problems"] += state.get("unlisted", ())
        if left_out:
            review["problems"].append(f"{counted(left_out, 'file')} of this repository were not read: it is larger than one analysis takes.")
        return Outcome("go on", state | {"review": review})

    async def failed(self, facts: Json, reason: str) -> None:
        """Complete what was begun on the delivery's head, the one we looked at and the current one; our failure never fails the change."""
        client = self.place.client(facts)
        pull = await read_pull(client, facts["number"])
        for head in {facts["head"], facts["known"]["head"], pull.head}:
            run = await find_check(client, self.place.settings.app_id, head, external_id(facts, head))
            if run is not None and run.settled and head == pull.head:
                await amend_check(client, run, f"**The review or the memory comment could not be posted:** {prose(redacted(reason))}")
            elif run is not None and not run.settled:
                await complete_check(client, run, unfinished(redacted(reason)), actions=(RERUN,))

    async def _end(self, client: Client, facts: Json, pull: Pull) -> None:
        run = await find_check(client, self.place.settings.app_id, pull.head, external_id(facts, pull.head))
        if run is not None:
            await complete_check(client, run, _CLOSED)
        if pull.is_merged and await self.place.ledger.of(facts["repository"], pull.number):
            conversation = await read_conversation(client, pull.number, diff=True)
            await Fates.of(self.place.ledger, facts["repository"], pull.number, conversation, self.place.signer(facts)).merged()

    async def _skipped(self, client: Client, facts: Json, pull: Pull, settings: Settings) -> CheckOutput | None:
        """Why this pull request is left alone. Who asks for a look in so many words gets one while it is paused or a draft."""
        if SKIP_LABEL in pull.labels:
            return _SKIPPED_BY_LABEL
        if facts["asked"]:
            return None
        if pull.is_draft and not settings.drafts:
            return _SKIPPED_DRAFT
        conversation = await read_conversation(client, pull.number, diff=False)
        return _PAUSED if is_paused(conversation, self.place.signer(facts)) else None
