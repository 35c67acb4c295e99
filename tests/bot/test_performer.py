"""A step is run by its name, in whatever version of the server its job was begun, and once what a dead process was writing has settled."""

from __future__ import annotations

import pytest

from bot import workflows
from bot.job import Chain, Json, Outcome, Step
from bot.metrics import Metrics
from bot.performer import Performer
from bot.settings import Pace


def performer(*names: str, settle: float = 0.0) -> Performer:
    async def run(facts: Json) -> Outcome:
        return Outcome("go on", facts)

    async def failed(_facts: Json, _reason: str) -> None:
        return

    return Performer(
        {"review": Chain(tuple(Step(name, run, interruptible=name == "analyse", light=name == "look") for name in names), failed)},
        Pace(settle=settle),
        Metrics(),
    )


async def test_a_plan_of_an_older_version_finds_its_steps() -> None:
    plan = performer("look", "analyse").plan("review")
    assert plan == [{"name": "look", "light": True, "interruptible": False}, {"name": "analyse", "light": False, "interruptible": True}]
    newer = performer("greet", "look", "measure", "analyse")
    outcomes = [await newer.perform("review", step["name"], {"number": 7}, newer.boot) for step in plan]
    assert outcomes == [Outcome("go on", {"number": 7})] * 2


async def test_a_step_that_is_no_more_is_named() -> None:
    outcome = await performer("look").perform("review", "analyse", {"number": 7}, "another process")
    assert outcome.then == "failed"
    assert outcome.state["reason"] == "the server was updated meanwhile, and its new version has no step called 'analyse'"


async def test_a_dead_process_is_waited_for_once_and_before_a_write(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr("bot.performer.time.monotonic", lambda: now)
    monkeypatch.setattr("bot.performer.asyncio.sleep", sleep)
    ours = performer("look", "analyse", "publish", settle=10.0)

    async def moment(name: str, boot: str) -> float:
        """When the step is through, in seconds from the beginning."""
        await ours.perform("review", name, {}, boot)
        return now - 1_000.0

    assert await moment("publish", ours.boot) == 0.0
    assert await moment("analyse", "dead") == 0.0
    now += 4.0
    assert await moment("publish", "dead") == 10.0
    assert await moment("look", "dead") == 10.0
    assert await moment("look", "another that died later") == 20.0


def test_a_version_knows_what_it_lacks() -> None:
    older = performer("look", "analyse")
    assert older.knows("review", ["analyse"])
    assert not older.knows("review", ["analyse", "measure"])
    assert not older.knows("a kind to come", [])
    assert older.plan("a kind to come") == []


async def test_a_job_of_a_newer_version_waits_for_one_that_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    slept: list[float] = []

    async def begun(_kind: str, names: list[str]) -> Json:
        asked.append(names)
        return {"boot": str(len(asked)), "plan": [], "knows": len(asked) == 3}

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(workflows, "_begun", begun)
    monkeypatch.setattr(workflows.DBOS, "sleep_async", sleep)
    found = await workflows._begun_where_known("review", [{"name": "measure"}])
    assert (found["boot"], asked, len(slept)) == ("3", [["measure"]] * 3, 2)
