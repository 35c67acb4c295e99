"""The check on a commit of the merge queue: the same analysis, reported on that commit and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass

from bot.chains.check_id import external_id
from bot.chains.review_pull import NOTHING_TO_READ, Reviewing
from bot.chains.review_state import settings_or_default, unfinished
from bot.github.checks import begin_check, complete_check, find_check, unsettled_checks
from bot.github.client import Client
from bot.github.configuration import configuration_at
from bot.github.errors import GitHubError
from bot.github.pull import changed_paths
from bot.github.wanted import touches_training
from bot.history import ReplacedJobError, require_wanted
from bot.job import Chain, Json, Outcome, Step
from bot.redact import redacted
from bot.review.annotation import annotate
from bot.review.check_run import check_output, notice_output
from bot.review.review_json import review_from_json
from bot.workplace import Workplace

_DESTROYED = notice_output("cancelled", "Left the merge queue", "The group is no longer in the merge queue.")


def merge_chain(place: Workplace) -> Chain:
    """Begin, analyse, report."""
    merging = Merging(place)
    steps = (
        Step("begin", merging.begin, light=True),
        Step("analyse", Reviewing(place).analyse, interruptible=True),
        Step("report", merging.report),
    )
    return Chain(steps, merging.failed)


@dataclass(frozen=True, slots=True)
class Merging:
    """A merge queue waits for a check that is required and never reports, so this one always does."""

    place: Workplace

    async def begin(self, facts: Json) -> Outcome:
        """Show a check run in progress; where the group is gone, end the one that is there."""
        async with self.place.alone(facts):
            try:
                return await self._begin(self.place.client(facts), self.place.settings.app_id, facts)
            except ReplacedJobError:
                return Outcome("done")

    async def _begin(self, client: Client, app_id: int, facts: Json) -> Outcome:
        if facts["destroyed"]:
            for begun in await unsettled_checks(client, app_id, facts["head"]):
                await complete_check(client, begun, _DESTROYED)
            return Outcome("done")
        run = await begin_check(client.provided(require_wanted), app_id, facts["head"], external_id(facts, facts["head"]))
        if run.settled:
            return Outcome("done")
        paths = await changed_paths(client, facts["base"], facts["head"])
        if not touches_training(paths):
            await complete_check(client, run, NOTHING_TO_READ)
            return Outcome("done")
        return Outcome("go on", facts | {"tip": facts["base"], "changes": {"paths": list(paths), "hunks": {}}})

    async def report(self, state: Json) -> Outcome:
        """Complete the check run with what was found."""
        client = self.place.client(state)
        run = await find_check(client, self.place.settings.app_id, state["head"], external_id(state, state["head"]))
        if run is None:
            raise GitHubError("the check run that was begun is gone")
        if "stopped" in state:
            await complete_check(client, run, unfinished(state["stopped"]))
            return Outcome("done")
        review = review_from_json(state["review"])
        settings = settings_or_default(await configuration_at(self.place.reader(client), state["tip"]))
        annotations = [annotate(finding, None) for finding in sorted(review.introduced, key=lambda finding: finding.rank)]
        await complete_check(client, run, check_output(review, settings), annotations)
        return Outcome("done")

    async def failed(self, facts: Json, reason: str) -> None:
        """Complete what was begun: a failure of ours must not hold the queue up."""
        client = self.place.client(facts)
        run = await find_check(client, self.place.settings.app_id, facts["head"], external_id(facts, facts["head"]))
        if run is not None:
            await complete_check(client, run, unfinished(redacted(reason)))
