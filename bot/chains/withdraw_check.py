"""The check run of a job that a newer one replaced must not stay in progress for ever."""

from __future__ import annotations

import logging

from bot.chains.check_id import external_id, is_about
from bot.github.checks import CheckRun, complete_check, unsettled_checks
from bot.github.client import Client
from bot.github.errors import GitHubError, NotFoundError, RateLimitedError
from bot.github.pull import read_pull
from bot.history import end, heads_of
from bot.job import Chain, Json, Outcome, Step
from bot.review.check_run import notice_output
from bot.workplace import Workplace

log = logging.getLogger(__name__)

REPLACED = notice_output("cancelled", "Replaced by a newer commit", "A newer commit was pushed before this one was read; its own check reports.")


def withdraw_chain(place: Workplace) -> Chain:
    """Completes the check runs that the replaced job began as cancelled, unless the newer job reports on the very same one."""

    async def withdraw(facts: Json) -> Outcome:
        """A check that stays in progress blocks a merge, so this goes on until none is left, whatever GitHub says meanwhile."""
        if await end(facts["replaced"]):  # whoever replaced it has not come to tell it so
            return Outcome("later", facts, place.settings.pace.settle)
        try:
            if await _withdrawn(facts):
                return Outcome("done")
        except NotFoundError:
            return Outcome("done")  # with the repository or the App went its checks
        except RateLimitedError:
            raise
        except GitHubError as error:
            log.warning("the check of a replaced job is still in progress: %s", error)
        before = facts.get("before", 0)
        return Outcome("later", facts | {"before": before + 1}, place.settings.pace.patience(before))

    async def _withdrawn(facts: Json) -> bool:
        client = place.client(facts)
        async with place.alone(facts):
            current = await _current(client, facts)
            done = True
            for head in sorted({facts["head"], *await heads_of(facts["replaced"])}):
                for run in await unsettled_checks(client, place.settings.app_id, head):
                    if _is_over(run, facts, head, current):
                        await complete_check(client, run, REPLACED)
                    elif not run.completed and run.external_id == external_id(facts, head):  # the newer job reports on it, or GitHub told an older head
                        done = False
            return done

    async def failed(_facts: Json, _reason: str) -> None:
        return  # the newer commit's check is what counts

    return Chain((Step("withdraw", withdraw, light=True),), failed)


async def _current(client: Client, facts: Json) -> str:
    """The head that is owed a result; "" where there is none."""
    if "number" not in facts:
        return "" if facts["by"]["destroyed"] else str(facts["head"])
    pull = await read_pull(client, facts["number"])
    return pull.head if pull.is_open else ""


def _is_over(run: CheckRun, facts: Json, head: str, current: str) -> bool:
    """Whether nobody reports on ``run`` any more: it was the replaced job's alone, or its head no longer counts."""
    own = run.external_id == external_id(facts, head) and facts["request"] != facts["by"]["request"]
    return own or (head != current and is_about(run.external_id, facts, head))
