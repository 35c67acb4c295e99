"""A disk that is full for a while cuts jobs off in the middle; they end all the same, without the process being started again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from bot import jobs
from bot.database import FrugalConnection
from bot.job import Chain, Json, Outcome, Step
from tests.bot.test_workflows import engine, job
from tests.bot.waiting import until


class Disk:
    """Takes no commit while it is ``full``, and as many more as ``refuses`` says."""

    full = False
    refuses = 0
    refused = 0

    def taking(self) -> Callable[[sqlite3.Connection], None]:
        """A method of connections that commits where the disk has room."""
        return lambda connection: self._commit(connection)  # noqa: PLW0108  # a function, so that it becomes a method

    def _commit(self, connection: sqlite3.Connection) -> None:
        if self.full or self.refuses:
            self.refuses = max(0, self.refuses - 1)
            self.refused += 1
            raise sqlite3.OperationalError("database or disk is full")
        sqlite3.Connection.commit(connection)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(FrugalConnection, "commit", disk.taking(), raising=False)
    monkeypatch.setattr(jobs, "_TAKE_UP_SECONDS", 0.2)
    return disk


@pytest.mark.parametrize("light", [True, False])
async def test_a_job_goes_on_once_the_database_takes_writes_again(tmp_path: Path, disk: Disk, light: bool) -> None:  # noqa: FBT001
    done: list[str] = []

    async def look(facts: Json) -> Outcome:
        disk.full = not done
        done.append("look")
        return Outcome("go on", facts)

    async def write(facts: Json) -> Outcome:
        done.append("write")
        return Outcome("go on", facts)

    async def failed(_facts: Json, reason: str) -> None:
        done.append(reason)

    async with engine(tmp_path) as version:
        version.chains["review"] = Chain((Step("look", look, light=light), Step("write", write)), failed)
        await version.jobs.add(job())
        await until(lambda: disk.full)
        await until(lambda: disk.refused > 8)  # trying in vain to go on is not counted
        disk.full = False
        await until(version.at_rest)
    assert done == ["look", "look", "write"]  # what was not stored is done again


async def test_a_job_that_was_stored_as_broken_begins_anew(tmp_path: Path, disk: Disk) -> None:
    async with engine(tmp_path) as version:
        version.knows("review", "look", "write")
        run = version.chains["review"].steps[0].run

        async def once(facts: Json) -> Outcome:
            disk.refuses = 1 if not version.done else 0
            return await run(facts)

        version.chains["review"] = Chain((Step("look", once), version.chains["review"].steps[1]), version.chains["review"].failed)
        await version.jobs.add(job())
        await until(lambda: version.done[-1:] == ["write"])
        await until(version.at_rest)
    assert (version.done, version.failures) == (["look", "look", "write"], [])
