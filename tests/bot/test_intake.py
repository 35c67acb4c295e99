"""A delivery that was answered becomes a job: whatever the engine does meanwhile, in the order of arrival, and in the next process if need be."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.inbox import Inbox
from bot.intake import Intake
from bot.job import Job
from bot.metrics import Queue
from bot.settings import Pace
from tests.bot.waiting import until

PACE = Pace(retry=0.01)


@dataclass(slots=True)
class Engine:
    """Takes jobs, but refuses or delays some of them first."""

    taken: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    slow: Callable[[Job], float] = lambda _: 0.0

    async def add(self, job: Job) -> bool:
        if self.refused:
            raise ConnectionError(self.refused.pop())
        await asyncio.sleep(self.slow(job))
        self.taken.append(job.delivery)
        return True

    async def queue(self) -> Queue:
        return Queue(0, 0.0)


def job(delivery: str, subject: str = "7#1") -> Job:
    return Job("review", subject, 3, delivery, {"head": "c0ffee", "title": "ein Anfang: naïve"})


@asynccontextmanager
async def taking_in(folder: Path, engine: Engine) -> AsyncIterator[Intake]:
    intake = Intake(Inbox(f"sqlite:///{folder / 'inbox.sqlite'}"), engine, PACE)  # type: ignore[arg-type]  # all of Jobs that it uses
    await intake.start()
    try:
        yield intake
    finally:
        await intake.stop()


async def test_a_delivery_that_was_answered_is_handed_over_by_the_next_process(tmp_path: Path) -> None:
    inbox = Inbox(f"sqlite:///{tmp_path / 'inbox.sqlite'}")
    before = time.time()
    stored = [await inbox.put(job(name)) for name in ("first", "second", "first")]
    left = await inbox.left(time.time())
    assert [each.delivery for each in left] == ["first", "second"]
    assert (left[0].facts, before <= left[0].added <= stored[1].added) == (job("first").facts, True)
    inbox.close()
    engine = Engine()
    async with taking_in(tmp_path, engine) as intake:
        await until(lambda: len(engine.taken) == 2)
        await until(lambda: _is_empty(intake))
    assert engine.taken == ["first", "second"]


async def test_an_engine_that_refuses_is_asked_again(tmp_path: Path) -> None:
    engine = Engine(refused=["the disk is full", "the disk is full"])
    async with taking_in(tmp_path, engine) as intake:
        await intake.accept(job("first"))
        await until(lambda: _is_empty(intake))
    assert engine.taken == ["first"]


async def test_one_subject_keeps_its_order_and_holds_up_no_other(tmp_path: Path) -> None:
    engine = Engine(slow=lambda one: 0.2 if one.delivery == "first" else 0.0)
    async with taking_in(tmp_path, engine) as intake:
        for each in (job("first"), job("second"), job("other", "7#2")):
            await intake.accept(each)
        assert (await intake.queue()).active == 3
        await until(lambda: _is_empty(intake))
    assert engine.taken == ["other", "first", "second"]


async def test_what_cannot_be_stored_is_refused(tmp_path: Path) -> None:
    async with taking_in(tmp_path, Engine()) as intake:
        (tmp_path / "inbox.sqlite").unlink()
        (tmp_path / "inbox.sqlite").mkdir()
        intake.inbox._engine = None  # as after a lost connection
        with pytest.raises(Exception, match="unable to open database file"):
            await intake.accept(job("first"))


async def _is_empty(intake: Intake) -> bool:
    return (await intake.inbox.waiting())[0] == 0
