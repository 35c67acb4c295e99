"""What was delivered while the bot was down is asked for again, and nothing is worked twice."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.catch_up import CatchUp, lost
from bot.github.app import App, FailedDelivery
from bot.github.transport import Transport
from bot.metrics import Metrics
from simulator import Repository, Simulator
from simulator.ports import free_port
from tests.bot.server.conftest import HURRIED, TRAIN, reviewed, serving, settings_for
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until


@pytest.fixture
async def github() -> Simulator:
    async with Simulator.start() as simulator:
        yield simulator
        assert simulator.violations == []


async def test_a_pull_request_that_was_opened_while_nobody_listened(github: Simulator, repository: Repository, tmp_path: Path) -> None:
    github.webhook_url = f"http://127.0.0.1:{free_port()}/webhook"
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await github.deliveries_settled()
    async with serving(settings_for(github, tmp_path, pace=replace(HURRIED, catch_up=0.2))) as address:
        github.webhook_url = f"{address}/webhook"
        await until(lambda: repository.check_runs(pull.head_sha))
        await reviewed(repository, pull)
        await until(lambda: github.counts["apps/list-webhook-deliveries"] > 3)
    assert (len(pull.reviews), len(pull.comments)) == (1, 1)
    again = [delivery for delivery in github.webhooks.deliveries if delivery.event.redelivery]
    assert {delivery.event.name for delivery in again} == {"pull_request", "check_suite"}
    assert [delivery.status_code for delivery in again] == [202, 202]


async def test_a_disk_that_is_full_for_a_while(github: Simulator, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    async with serving(settings_for(github, tmp_path, pace=replace(HURRIED, catch_up=0.5))) as address:
        github.webhook_url = f"{address}/webhook"
        with monkeypatch.context() as patched:
            patched.setattr("bot.inbox.Inbox.put", full)
            pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
            await github.deliveries_settled()
        assert [delivery.status_code for delivery in github.webhooks.deliveries if delivery.event.name == "pull_request"][:1] == [503]
        await until(lambda: repository.check_runs(pull.head_sha))
        await reviewed(repository, pull)
    assert (len(pull.reviews), len(pull.comments)) == (1, 1)


async def test_many_pages_of_failures(github: Simulator, tmp_path: Path) -> None:
    github.webhook_url = f"http://127.0.0.1:{free_port()}/webhook"
    repository = github.create_repository("octo/many", {"train.py": TRAIN})
    pull = repository.open_pull_request("faster", files={"train.py": BUGGY})
    for number in range(130):
        pull.comment("ada", f"Comment {number}")
    await github.deliveries_settled()
    settings = settings_for(github, tmp_path)
    async with Transport(settings.api_url, settings.graphql_url, 10.0, Metrics()) as transport:
        app = App(settings, transport)
        catching_up = CatchUp(app, transport.metrics)
        failed = await app.failed_deliveries(since=0.0)
        assert len({attempt.id for attempt in failed}) == len(failed) > 130
        assert await app.failed_deliveries(since=datetime.now(UTC).timestamp() + 60) == []
        await catching_up.redeliver()
        await github.deliveries_settled()
        first = github.counts["apps/redeliver-webhook-delivery"]
        await catching_up.redeliver()
    assert github.counts["apps/redeliver-webhook-delivery"] == 2 * first  # each attempt that failed again


def test_what_is_worth_another_attempt() -> None:
    failed = [attempt(9, "b"), attempt(7, "a"), attempt(5, "a"), attempt(4, "other", "star"), *(attempt(number, "often") for number in range(5))]

    def due(seconds: int) -> list[tuple[str, int]]:
        return [(each.guid, each.id) for each in lost(failed, {"pull_request"}, datetime.fromtimestamp(seconds, UTC), pause=10.0)]

    assert due(9) == due(33) == [("a", 7), ("b", 9)]
    assert due(34) == [("often", 4), ("a", 7), ("b", 9)]  # thirty seconds after its fifth attempt


def attempt(number: int, guid: str, event: str = "pull_request") -> FailedDelivery:
    return FailedDelivery(number, guid, event, datetime.fromtimestamp(number, UTC))
