"""All checks of a commit are wanted again: our runs there say which pull requests and merge groups that concerns."""

from __future__ import annotations

from bot.events.check_target import job_behind
from bot.github.checks import external_ids
from bot.job import Chain, Json, Outcome, Step
from bot.workplace import Workplace


def rerun_chain(place: Workplace) -> Chain:
    """One step that names the jobs to follow."""

    async def rerun(facts: Json) -> Outcome:
        found = await external_ids(place.client(facts), place.settings.app_id, facts["head"])
        jobs = (job_behind(external_id, facts["delivery"], facts) for external_id in found)
        return Outcome("done", follow=tuple({job.key: job for job in jobs if job is not None}.values()))

    async def failed(_facts: Json, _reason: str) -> None:
        return  # the runs are as they were; the button can be pressed again

    return Chain((Step("rerun", rerun, light=True),), failed)
