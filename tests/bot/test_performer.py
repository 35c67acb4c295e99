"""A step is run by its name, in whatever version of the server its job was begun, and once what a dead process was writing has settled."""

from __future__ import annotations

import pytest

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


async def test_a_step_of_another_version_is_left_to_it() -> None:
    outcome = await performer("look").perform("review", "analyse", {"number": 7}, "another process")
    assert (outcome.then, outcome.state) == ("elsewhere", {"number": 7})
    assert (await performer("look").perform("a kind to come", "analyse", {}, "another process")).then == "elsewhere"


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
