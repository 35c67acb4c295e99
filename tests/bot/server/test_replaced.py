"""A job that a newer one replaces leaves no check in progress, wherever it is when that happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
import pytest_asyncio
from dbos import DBOS

from bot.chains import review_pull, withdraw_check
from bot.github.checks import CheckRun
from bot.github.client import Client
from bot.github.pull import Pull
from simulator import BadGateway, Drop, PullRequest, Repository, Simulator, StaleHead
from simulator.checking import rerequest
from simulator.simulator import EVENTS
from tests.bot.server.conftest import HURRIED, at_rest, reviewed, serving, settings_for
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]

SLOW = {"train.py": "# SLEEP 60\n"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def github() -> AsyncIterator[Simulator]:
    async with Simulator.start(events=(*EVENTS, "merge_group")) as simulator:
        yield simulator
        assert simulator.violations == []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bot(github: Simulator, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """A write whose answer was lost takes a moment to have happened or not, so that others come in between."""
    async with serving(settings_for(github, tmp_path_factory.mktemp("state"), pace=replace(HURRIED, settle=0.4))) as address:
        github.webhook_url = f"{address}/webhook"
        yield address


async def test_one_that_is_replaced_late(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database is slow: whoever tidies up is there, and gone, before the replaced job is told to end and before it begins its check."""
    cancel, read, look = DBOS.cancel_workflows_async, review_pull.read_pull, withdraw_check.unsettled_checks
    tidied, is_over = asyncio.Event(), asyncio.Event()
    cancels, reads = count(), []

    async def cancelled(names: list[str], **options: Any) -> None:
        if next(cancels) == 0:
            await until(lambda: is_over.is_set() or repository.check_runs(old))
        await cancel(names, **options)

    async def read_slowly(client: Client, number: int) -> Pull:
        pull = await read(client, number)
        reads.append(pull.head)
        if len(reads) == 1:
            await tidied.wait()
        return pull

    async def looked_for(client: Client, app_id: int, head: str) -> list[CheckRun]:
        found = await look(client, app_id, head)
        tidied.set()
        return found

    monkeypatch.setattr(review_pull, "read_pull", read_slowly)
    monkeypatch.setattr(withdraw_check, "unsettled_checks", looked_for)
    monkeypatch.setattr(DBOS, "cancel_workflows_async", cancelled)
    pull = repository.open_pull_request("slow", title="Slow", files=SLOW)
    old = pull.head_sha
    await until(lambda: reads)
    pull.push({"train.py": BUGGY})
    await settled(repository, pull, old)
    is_over.set()


async def test_one_whose_head_github_still_tells(github: Simulator, repository: Repository) -> None:
    pull = repository.open_pull_request("slow", title="Slow", files=SLOW)
    old = pull.head_sha
    await until(lambda: repository.check_runs(old))
    github.fail_next("GET", r"/pulls/\d+$", StaleHead(), skip=1)
    pull.push({"train.py": BUGGY})
    await settled(repository, pull, old)
    assert not github.faults.waiting


async def test_one_whose_check_was_begun_on_a_head_that_is_gone(github: Simulator, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer to its first write is lost; when it comes to look again, the head has moved and nobody else knows of the check."""
    monkeypatch.setattr("bot.chains.review_pull._LOOK_HOLDS_SECONDS", 0.2)
    github.fail_next("POST", r"/check-runs$", Drop(after_write=True))
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": "BATCH = 9\n"})
    old = pull.head_sha
    await until(lambda: repository.check_runs(old))
    github.webhooks.lose_next("pull_request")
    pull.push({"train.py": BUGGY})
    await settled(repository, pull, old)


async def test_one_of_a_merge_queue(github: Simulator, repository: Repository) -> None:
    pull = repository.open_pull_request("slow", title="Slow", files={"train.py": "# SLEEP 1\n"})
    head = pull.enqueue()
    await until(lambda: [run.status for run in repository.check_runs(head)] == ["completed"])
    for number in (2, 3):
        rerequest(repository, repository.check_runs(head)[0], repository.owner)
        await until(lambda number=number: len(repository.check_runs(head)) == number)
    await at_rest(repository)
    assert [run.conclusion for run in repository.check_runs(head)] == ["success", "cancelled", "success"]


async def test_a_failure_is_told_however_long_github_is_away(github: Simulator, repository: Repository) -> None:
    github.fail_next("PATCH", r"/check-runs/\d+$", BadGateway(), times=11)  # four tries to complete it, seven to say that this failed
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await until(lambda: repository.check_runs(pull.head_sha))
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert (run.conclusion, run.title) == ("neutral", "Preflight could not finish")


async def settled(repository: Repository, pull: PullRequest, old: str) -> None:
    """The newest head gets its result, and no other check is left in progress."""
    await reviewed(repository, pull)
    assert [run.conclusion for run in repository.check_runs(pull.head_sha)] == ["neutral"]
    assert {run.conclusion for run in repository.check_runs(old)} <= {"cancelled"}
