"""A step is run by its name, in whatever version of the server its job was begun."""

from __future__ import annotations

from bot.job import Chain, Json, Outcome, Step
from bot.metrics import Metrics
from bot.performer import Performer
from bot.settings import Pace


def performer(*names: str) -> Performer:
    async def run(facts: Json) -> Outcome:
        return Outcome("go on", facts)

    async def failed(_facts: Json, _reason: str) -> None:
        return

    return Performer({"review": Chain(tuple(Step(name, run, light=name == "look") for name in names), failed)}, Pace(settle=0.0), Metrics())


async def test_a_plan_of_an_older_version_finds_its_steps() -> None:
    plan = performer("look", "analyse").plan("review")
    assert plan == [{"name": "look", "light": True, "interruptible": False}, {"name": "analyse", "light": False, "interruptible": False}]
    newer = performer("greet", "look", "measure", "analyse")
    outcomes = [await newer.perform("review", step["name"], {"number": 7}, newer.boot) for step in plan]
    assert outcomes == [Outcome("go on", {"number": 7})] * 2


async def test_a_step_that_is_no_more_is_named() -> None:
    outcome = await performer("look").perform("review", "analyse", {"number": 7}, "another process")
    assert outcome.then == "failed"
    assert outcome.state["reason"] == "the server was updated meanwhile, and its new version has no step called 'analyse'"
