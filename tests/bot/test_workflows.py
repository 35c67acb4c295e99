"""Versions of the server that work on the same jobs: what one of them does not know goes back to the queue until one comes that does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bot.database import SQLite
from bot.job import Chain, Job, Json, Outcome, Step
from bot.jobs import Jobs
from bot.metrics import Metrics, Queue
from bot.performer import Performer
from bot.settings import Pace
from tests.bot.waiting import until

PACE = Pace(write_interval=0.0, retry=0.01, poll=0.05, drain=0.0, settle=0.0)


@dataclass
class Newer(Performer):
    """Begins the next job by a plan that another version has made."""

    made_elsewhere: list[list[Json]] = field(default_factory=list)

    def plan(self, kind: str) -> list[Json]:
        return self.made_elsewhere.pop() if self.made_elsewhere else super().plan(kind)


@dataclass(slots=True)
class Engine:
    """One process, whose chains another version takes the place of; ``done`` are the steps that were run."""

    jobs: Jobs
    performer: Newer
    chains: dict[str, Chain]
    done: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def knows(self, kind: str, *names: str, light: bool = False) -> None:
        """Let this version have a chain with steps of these ``names``."""

        async def failed(_facts: Json, reason: str) -> None:
            self.failures.append(reason)

        self.chains[kind] = Chain(tuple(Step(name, self._run(name), light=light) for name in names), failed)

    async def at_rest(self) -> bool:
        return (await self.jobs.queue()) == Queue(0, 0.0)

    def _run(self, name: str) -> Callable[[Json], Awaitable[Outcome]]:
        async def run(facts: Json) -> Outcome:
            self.done.append(name)
            return Outcome("go on", facts)

        return run


@asynccontextmanager
async def engine(folder: Path) -> AsyncIterator[Engine]:
    chains: dict[str, Chain] = {}
    performer = Newer(chains, PACE, Metrics())
    jobs = Jobs(SQLite(folder / "jobs.sqlite"), performer, PACE)
    await jobs.start()
    try:
        yield Engine(jobs, performer, chains)
    finally:
        await jobs.stop()


def job(kind: str = "review") -> Job:
    return Job(kind, "7/1", 3, "guid", {"number": 1})


async def test_a_step_of_another_version_is_handed_back_and_those_before_it_are_not_repeated(tmp_path: Path) -> None:
    async with engine(tmp_path) as version:
        version.knows("review", "look", "measure")
        whole = version.chains["review"]
        version.performer.made_elsewhere.append(version.performer.plan("review"))
        version.chains["review"] = replace(whole, steps=whole.steps[:1])
        await version.jobs.add(job())
        await until(lambda: version.done == ["look"])
        assert not await version.at_rest()
        version.chains["review"] = whole
        await until(version.at_rest)
    assert (version.done, version.failures) == (["look", "measure"], [])


@pytest.mark.parametrize("light", [True, False])
async def test_a_job_whose_plan_nobody_knows_any_more_begins_anew(tmp_path: Path, light: bool) -> None:  # noqa: FBT001
    async with engine(tmp_path) as version:
        version.knows("review", "look", "measure", light=light)
        version.performer.made_elsewhere.append(version.performer.plan("review"))
        version.knows("review", "look", "weigh", light=light)
        await version.jobs.add(job())
        await until(version.at_rest)
    assert (version.done, version.failures) == (["look", "look", "weigh"], [])


async def test_a_kind_of_job_that_came_later_leaves_its_subject_to_others_until_somebody_knows_it(tmp_path: Path) -> None:
    async with engine(tmp_path) as version:
        version.knows("review", "look")
        await version.jobs.add(job("greet"))
        await version.jobs.add(job())
        await until(lambda: version.done == ["look"])
        assert not await version.at_rest()
        version.knows("greet", "wave")
        await until(version.at_rest)
    assert version.done == ["look", "wave"]
