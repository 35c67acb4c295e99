"""The check run of a job that a newer push replaced must not stay in progress for ever."""

from __future__ import annotations

import logging

from bot.chains.check_id import external_id, is_about
from bot.github.checks import complete_check, unsettled_checks
from bot.github.client import Client
from bot.github.errors import GitHubError, NotFoundError, RateLimitedError
from bot.github.pull import read_pull
from bot.history import heads_of
from bot.job import Chain, Json, Outcome, Step
from bot.review.check_run import notice_output
from bot.workplace import Workplace

log = logging.getLogger(__name__)

#: In pauses after a first failure: about twenty seconds.
_PATIENCE = 20

REPLACED = notice_output("cancelled", "Replaced by a newer commit", "A newer commit was pushed before this one was read; its own check reports.")


def withdraw_chain(place: Workplace) -> Chain:
    """Completes the check runs that the replaced job began as cancelled, unless the newer job reports on the very same one."""

    async def withdraw(facts: Json) -> Outcome:
        """A check that stays in progress blocks a merge, so this is not given up as easily as a review."""
        try:
            await _withdraw_all(facts)
        except NotFoundError:
            return Outcome("done")  # with the repository or the App went its checks
        except RateLimitedError:
            raise
        except GitHubError as error:
            log.warning("the check of a replaced job is still in progress: %s", error)
            return Outcome("later", facts, place.settings.pace.retry * _PATIENCE)
        return Outcome("done")

    async def _withdraw_all(facts: Json) -> None:
        client = place.client(facts)
        async with place.alone(facts):
            pull = await read_pull(client, facts["number"])
            for head in sorted({facts["head"], *await heads_of(facts["replaced"])}):
                is_over = head != pull.head or not pull.is_open
                await _withdraw(client, facts, head, is_over=is_over)

    async def _withdraw(client: Client, facts: Json, head: str, *, is_over: bool) -> None:
        for run in await unsettled_checks(client, place.settings.app_id, head):
            ours = run.external_id == external_id(facts, head) and facts["request"] != facts["by"]["request"]
            if ours or (is_over and is_about(run.external_id, facts["number"], head)):
                await complete_check(client, run, REPLACED)

    async def failed(_facts: Json, _reason: str) -> None:
        return  # the newer commit's check is what counts

    return Chain((Step("withdraw", withdraw, light=True),), failed)
