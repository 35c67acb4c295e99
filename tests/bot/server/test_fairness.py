"""Whoever waits sees that he was heard: a check is begun before there is room to read, one account holds no other up, and a limit shows in the queue."""

from __future__ import annotations

import re

import aiohttp
import pytest

from simulator import PullRequest, RateLimited, Repository, Simulator
from tests.bot.server.conftest import TRAIN, checked, reviewed
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]

AT_ONCE = 2


async def test_a_busy_account_sees_its_checks_and_holds_no_other_up(github: Simulator) -> None:
    repositories = [github.create_repository(f"busy/train-{number}", {"train.py": TRAIN}) for number in range(AT_ONCE + 1)]
    *slow, waiting = (opened(each, "" if each is repositories[-1] else "# SLEEP 240\n") for each in repositories)
    for pull in (*slow, waiting):
        await until(lambda pull=pull: statuses(pull) == ["in_progress"])
    other = opened(github.create_repository("other/train", {"train.py": TRAIN}))
    await checked(other.repository, other)
    assert [statuses(pull) for pull in (*slow, waiting)] == [["in_progress"]] * (AT_ONCE + 1)
    slow[0].close()
    await checked(waiting.repository, waiting)
    assert [statuses(pull) for pull in slow] == [["completed"], ["in_progress"]]
    assert waiting.repository.check_runs(waiting.head_sha)[0].conclusion == "neutral"
    slow[1].close()
    await reviewed(waiting.repository, waiting)


async def test_a_limit_that_holds_a_check_up_shows_in_the_queue(github: Simulator, bot: str, repository: Repository) -> None:
    github.fail_next("POST", r"/check-runs$", RateLimited(403, retry_after=3))
    pull = opened(repository)
    await until(lambda: github.faults.waiting == 0)
    active, age = await queue(bot)
    assert statuses(pull) == []
    assert active == 1
    assert age > 0.0
    await reviewed(repository, pull)
    assert statuses(pull) == ["completed"]
    assert await queue(bot) == (0, 0.0)


def opened(repository: Repository, more: str = "") -> PullRequest:
    return repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY + more})


def statuses(pull: PullRequest) -> list[str]:
    return [run.status for run in pull.repository.check_runs(pull.head_sha)]


async def queue(bot: str) -> tuple[float, float]:
    """How many jobs ``/metrics`` says are waiting or running, and the age of the oldest."""
    async with aiohttp.ClientSession() as session, session.get(f"{bot}/metrics") as response:
        told = dict(re.findall(r"^(preflight_jobs_active|preflight_queue_age_seconds) (\S+)$", await response.text(), re.MULTILINE))
    return float(told["preflight_jobs_active"]), float(told["preflight_queue_age_seconds"])
