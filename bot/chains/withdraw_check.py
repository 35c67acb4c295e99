"""The check run of a job that a newer push replaced must not stay in progress for ever."""

from __future__ import annotations

from bot.chains.check_id import external_id
from bot.github.checks import complete_check, find_check
from bot.github.pull import read_pull
from bot.job import Chain, Json, Outcome, Step
from bot.review.check_run import notice_output
from bot.workplace import Workplace

REPLACED = notice_output("cancelled", "Replaced by a newer commit", "A newer commit was pushed before this one was read; its own check reports.")


def withdraw_chain(place: Workplace) -> Chain:
    """Completes the check run of the replaced job's head as cancelled, unless the newer job reports on the very same one."""

    async def withdraw(facts: Json) -> Outcome:
        client = place.client(facts)
        pull = await read_pull(client, facts["number"])
        if pull.head != facts["head"] or facts["request"] != facts["by"]["request"] or not pull.is_open:
            run = await find_check(client, place.settings.app_id, facts["head"], external_id(facts, facts["head"]))
            if run is not None:
                await complete_check(client, run, REPLACED)
        return Outcome("done")

    async def failed(_facts: Json, _reason: str) -> None:
        return  # the newer commit's check is what counts

    return Chain((Step("withdraw", withdraw, light=True),), failed)
