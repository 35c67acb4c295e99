"""Jobs are forgotten once GitHub no longer offers their deliveries again; until then a delivery that comes twice is known."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from bot import jobs
from bot.database import SQLite
from bot.metrics import Metrics
from bot.performer import Performer
from bot.settings import Pace
from simulator import Repository, Simulator
from tests.bot.server.conftest import reviewed, serving, settings_for
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

DAY = 86_400


@pytest.fixture
async def github() -> Simulator:
    async with Simulator.start() as simulator:
        yield simulator


async def test_old_jobs_go_with_their_steps_and_younger_ones_stay(
    github: Simulator, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_PRUNE_SECONDS", 0.2)
    async with serving(settings_for(github, tmp_path)) as address:
        github.webhook_url = f"{address}/webhook"
        for branch in ("old", "young"):
            await reviewed(repository, repository.open_pull_request(branch, title="Faster", files={"train.py": BUGGY}))
        assert rows(tmp_path, "old") > 0
        made_older(tmp_path, "old", 6 * DAY)
        made_older(tmp_path, "young", DAY)
        both = rows(tmp_path, "young")
        await reviewed(repository, repository.open_pull_request("newest", title="Faster", files={"train.py": BUGGY}))
        assert rows(tmp_path, "old") > 0  # GitHub may still deliver it again
        made_older(tmp_path, "old", 2 * DAY)
        await until(lambda: rows(tmp_path, "old") == 0)
        assert rows(tmp_path, "young") == both


async def test_more_than_are_removed_at_once_go_too(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [f"review/1/{number}/guid#0" for number in range(2_500)]

    class Engine:
        @staticmethod
        async def list_workflows_async(*, limit: int, **_wanted: object) -> list[SimpleNamespace]:
            return [SimpleNamespace(workflow_id=name) for name in kept[:limit]]

        @staticmethod
        async def delete_workflows_async(names: list[str]) -> None:
            del kept[: len(names)]

    monkeypatch.setattr(jobs, "DBOS", Engine)
    engine = jobs.Jobs(SQLite(Path("unused")), Performer({}, Pace(), Metrics()), Pace())
    await engine._prune()
    assert kept == []


NUMBERS = {"old": 1, "young": 2}
OF_PULL = "workflow_uuid LIKE 'review/%/' || ? || '/%'"


def rows(state: Path, branch: str) -> int:
    """How many jobs and steps are kept about the pull request of ``branch``."""
    with opened(state) as database:
        counts = (f"SELECT COUNT(*) FROM {table} WHERE {OF_PULL}" for table in ("workflow_status", "operation_outputs"))
        return sum(database.execute(count, (NUMBERS[branch],)).fetchone()[0] for count in counts)


def made_older(state: Path, branch: str, seconds: int) -> None:
    with opened(state) as database, database:
        moments = ", ".join(f"{name} = {name} - {1_000 * seconds}" for name in ("created_at", "updated_at", "completed_at"))
        database.execute(f"UPDATE workflow_status SET {moments} WHERE {OF_PULL}", (NUMBERS[branch],))


def opened(state: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(state / "jobs.sqlite", timeout=30))
