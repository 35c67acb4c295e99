"""Whoever tidies up after a replaced job ends what nobody reports on any more, and leaves what has a result or will get one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.chains import withdraw_check
from bot.chains.check_id import external_id
from bot.chains.review_state import unfinished
from bot.chains.withdraw_check import withdraw_chain
from bot.database import SQLite
from bot.github.app import App
from bot.github.checks import begin_check, complete_check, find_check
from bot.github.client import Client
from bot.github.transport import Transport
from bot.job import Json, Outcome
from bot.ledger import Ledger
from bot.metrics import Metrics
from bot.review.check_run import CheckOutput
from bot.workplace import Workplace
from simulator import PullRequest, Simulator
from tests.bot.server.conftest import TRAIN, settings_for

RESULT = CheckOutput("success", "Nothing found in the training code", "It was read.")


@pytest.fixture
async def github() -> AsyncIterator[Simulator]:
    async with Simulator.start() as simulator:
        yield simulator
        assert simulator.violations == []


@pytest.fixture
def pull(github: Simulator) -> PullRequest:
    repository = github.create_repository("octo/train", {"train.py": TRAIN})
    return repository.open_pull_request("faster", title="Faster", files={"train.py": "x = 1\n"})


@pytest.fixture
async def place(github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Workplace]:
    """Without the job engine: the replaced job has ended, and looked at no other head than its delivery's."""

    async def has_ended(_job: str) -> bool:
        return False

    async def heads(_job: str) -> set[str]:
        return set()

    monkeypatch.setattr(withdraw_check, "end", has_ended)
    monkeypatch.setattr(withdraw_check, "heads_of", heads)
    settings = settings_for(github, tmp_path)
    async with Transport(settings.api_url, settings.graphql_url, 10.0, Metrics()) as transport:
        yield Workplace(settings, App(settings, transport), SQLite(tmp_path / "jobs.sqlite"), Ledger(settings.ledger_url))


def facts_of(pull: PullRequest, request: str = "") -> Json:
    installation = pull.repository.platform.installation_of(pull.repository)
    assert installation is not None
    wanted = {"installation": installation.id, "repository": pull.repository.id, "full_name": pull.repository.full_name}
    return wanted | {"number": pull.number, "head": pull.head_sha, "request": request, "asked": False, "delivery": "0b989ba4"}


async def begun(client: Client, place: Workplace, facts: Json, output: CheckOutput | None = None) -> None:
    """A check as the job of ``facts`` begins it, and completes it with ``output``."""
    run = await begin_check(client, place.settings.app_id, facts["head"], external_id(facts, facts["head"]))
    if output is not None:
        await complete_check(client, run, output)


async def tidied(place: Workplace, replaced: Json, by: Json) -> Outcome:
    (step,) = withdraw_chain(place).steps
    return await step.run(replaced | {"by": by, "replaced": "review/1/1/0b989ba4#0"})


def shown(pull: PullRequest, head: str) -> list[tuple[str, str | None, str | None]]:
    return [(run.status, run.conclusion, run.title) for run in pull.repository.check_runs(head)]


async def test_a_check_in_progress_on_an_older_head_is_ended(pull: PullRequest, place: Workplace) -> None:
    replaced = facts_of(pull)
    await begun(place.client(replaced), place, replaced)
    pull.push({"train.py": "x = 2\n"})
    assert (await tidied(place, replaced, facts_of(pull))).then == "done"
    assert shown(pull, replaced["head"]) == [("completed", "cancelled", "Replaced by a newer commit")]


async def test_a_check_that_has_its_result_keeps_it(github: Simulator, pull: PullRequest, place: Workplace) -> None:
    replaced = facts_of(pull)
    await begun(place.client(replaced), place, replaced, RESULT)
    pull.push({"train.py": "x = 2\n"})
    written = github.counts["checks/update"]
    assert (await tidied(place, replaced, facts_of(pull))).then == "done"
    assert github.counts["checks/update"] == written
    assert shown(pull, replaced["head"]) == [("completed", "success", RESULT.title)]


async def test_a_check_that_ended_without_result_is_not_waited_for(github: Simulator, pull: PullRequest, place: Workplace) -> None:
    """The newer job reports on the very same check, which says so far that GitHub failed too often: that may be the last word."""
    replaced = facts_of(pull)
    await begun(place.client(replaced), place, replaced, unfinished("GitHub failed too often"))
    written = github.counts["checks/update"]
    assert (await tidied(place, replaced, facts_of(pull))).then == "done"
    assert github.counts["checks/update"] == written
    assert shown(pull, replaced["head"]) == [("completed", "neutral", "Preflight could not finish")]


async def test_a_check_that_the_newer_job_reports_on_is_left_to_it_and_looked_at_again(pull: PullRequest, place: Workplace) -> None:
    replaced = facts_of(pull)
    client = place.client(replaced)
    await begun(client, place, replaced)
    outcome = await tidied(place, replaced, facts_of(pull))
    assert (outcome.then, outcome.seconds > 0.0) == ("later", True)
    assert shown(pull, pull.head_sha) == [("in_progress", None, "Reading the change")]
    run = await find_check(client, place.settings.app_id, pull.head_sha, external_id(replaced, pull.head_sha))
    assert run is not None
    await complete_check(client, run, RESULT)
    assert (await tidied(place, replaced, facts_of(pull))).then == "done"
    assert shown(pull, pull.head_sha) == [("completed", "success", RESULT.title)]


async def test_a_look_that_was_asked_for_again_ends_the_former_one(pull: PullRequest, place: Workplace) -> None:
    replaced, by = facts_of(pull), facts_of(pull, request="e116e068")
    await begun(place.client(replaced), place, replaced)
    await begun(place.client(by), place, by)
    assert (await tidied(place, replaced, by)).then == "done"
    assert [run.conclusion for run in pull.repository.check_runs(pull.head_sha)] == ["cancelled", None]


async def test_nothing_is_left_to_end_on_a_closed_pull_request(pull: PullRequest, place: Workplace) -> None:
    replaced = facts_of(pull)
    await begun(place.client(replaced), place, replaced)
    pull.close()
    assert (await tidied(place, replaced, facts_of(pull))).then == "done"
    assert shown(pull, replaced["head"]) == [("completed", "cancelled", "Replaced by a newer commit")]
