"""Two processes on one Postgres: a job of the one that is killed is finished by the other, and posted once; the database may go and come back."""

from __future__ import annotations

import asyncio
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import psycopg
import pytest

from bot.postgres import Postgres
from bot.shared_turns import SharedTurns
from simulator import PullRequest, Repository, Simulator
from simulator.ports import free_port
from tests.bot.server.conftest import TRAIN, checked
from tests.bot.server.database import IS_INSTALLED, Server
from tests.bot.server.processes import idle, listening, process
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

pytestmark = pytest.mark.skipif(not IS_INSTALLED, reason="PostgreSQL is not installed here")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="preflight-postgres-") as folder:
        server = Server(Path(folder))
        server.create()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="module")
def database(server: Server) -> str:
    return server.address


async def test_a_lock_tells_the_living_from_the_dead(database: str) -> None:
    ours, theirs = Postgres(database, "ours"), Postgres(database, "theirs")
    for each in (ours, theirs):
        each.open()
    assert ours.dead({"ours", "theirs", "gone"}) == ["gone"]
    theirs.close()
    await until(lambda: ours.dead({"ours", "theirs"}) == ["theirs"])
    ours.close()


async def test_one_at_a_time_writes_whatever_its_process(database: str) -> None:
    ours, theirs = Postgres(database, "ours"), Postgres(database, "theirs")
    inside: list[str] = []

    async def visit(place: Postgres, name: str) -> None:
        async with place.alone("7#1"):
            inside.append(f"{name} comes")
            await asyncio.sleep(0.2)
            inside.append(f"{name} goes")

    await asyncio.gather(visit(ours, "one"), visit(theirs, "two"), visit(ours, "three"))
    assert all(comes.split()[0] == goes.split()[0] for comes, goes in zip(inside[::2], inside[1::2], strict=True))
    async with ours.alone("7#1"), theirs.alone("7#2"):
        inside.append("two pull requests")
    assert len(inside) == 7


async def test_the_writes_of_all_processes_go_a_second_apart(database: str) -> None:
    ours, theirs, *_ = everybody = [SharedTurns(database) for _ in range(8)]  # they find no table, and make it at once
    waits = sorted(await asyncio.gather(*(each.reserve(7, 30.0) for each in everybody)))
    assert [round(wait / 30.0, 1) for wait in waits] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert await theirs.reserve(8, 30.0) == 0.0
    await ours.rest(8, 600.0)
    await ours.rest(8, 1.0)  # a shorter wish does not end the longer one
    assert await theirs.reserve(8, 30.0) > 570.0
    for each in everybody:
        each.close()


async def test_a_killed_process_is_stood_in_for(database: str, tmp_path: Path) -> None:
    """By a worker, which takes no deliveries."""
    async with Simulator.start() as github:
        repository = github.create_repository("octo/train", {"train.py": TRAIN})
        first_port, second_port = free_port(), free_port()
        github.webhook_url = f"http://127.0.0.1:{first_port}/webhook"
        with process(github, tmp_path / "1", first_port, database=database) as first:
            await listening(first_port)
            pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY + "# SLEEP 3\n"})
            await until(lambda: repository.check_runs(pull.head_sha))
            with process(github, tmp_path / "2", second_port, "tests.bot.server.serve_marked", "worker", database=database):
                await listening(second_port)
                async with aiohttp.ClientSession() as session, session.post(f"http://127.0.0.1:{second_port}/webhook") as response:
                    assert response.status == 404
                first.send_signal(signal.SIGKILL)
                await asyncio.to_thread(first.wait)
                await checked(repository, pull)
                await idle(second_port)
        assert (len(repository.check_runs(pull.head_sha)), len(pull.reviews), len(pull.comments)) == (1, 1, 1)
        assert (github.counts["pulls/list-files"], github.counts["checks/create"]) == (1, 1)  # what was done is not done again
        assert github.violations == []


async def test_an_old_and_a_new_version_that_overlap(database: str, tmp_path: Path) -> None:
    """The new one has migrated the database before the old one ends, which leaves it a job that was begun without the new step."""
    async with Simulator.start() as github:
        repository = github.create_repository("octo/deployed", {"train.py": TRAIN})
        old_port, new_port = free_port(), free_port()
        github.webhook_url = f"http://127.0.0.1:{old_port}/webhook"
        with process(github, tmp_path / "1", old_port, database=database) as old:
            await listening(old_port)
            pulls = [opened(repository, "begun", "# SLEEP 3\n")]
            await until(lambda: repository.check_runs(pulls[0].head_sha))
            await asyncio.to_thread(migrated, database)
            with process(github, tmp_path / "2", new_port, "tests.bot.server.serve_marked", "newer", database=database):
                await listening(new_port)
                pulls.append(opened(repository, "of-the-old"))
                await until(lambda: repository.check_runs(pulls[-1].head_sha))
                pulls.append(opened(repository, "cut-off", "# SLEEP 3\n"))
                await until(lambda: repository.check_runs(pulls[-1].head_sha))
                github.webhook_url = f"http://127.0.0.1:{new_port}/webhook"
                pulls += [opened(repository, f"of-the-new-{number}") for number in range(3)]
                await github.deliveries_settled()
                for pull in pulls:
                    await checked(repository, pull)  # the old one hands back what it takes out of the queue and does not know
                await idle(new_port)
                assert old.poll() is None
                pulls.append(opened(repository, "left-behind", "# SLEEP 3\n"))
                await until(lambda: repository.check_runs(pulls[-1].head_sha))
                old.terminate()
                await asyncio.to_thread(old.wait)
                await checked(repository, pulls[-1])
                await idle(new_port)
        assert [(pull.title, len(repository.check_runs(pull.head_sha)), len(pull.reviews), len(pull.comments)) for pull in pulls] == [
            (name, 1, 1, 1) for name in ("begun", "of-the-old", "cut-off", "of-the-new-0", "of-the-new-1", "of-the-new-2", "left-behind")
        ]
        assert {run.title for run in repository.check_runs()} == {"1 finding introduced, memory of 1 entry point changes"}
        assert github.violations == []


def opened(repository: Repository, name: str, more: str = "") -> PullRequest:
    return repository.open_pull_request(name, title=name, files={"train.py": BUGGY + more})


def migrated(database: str) -> None:
    """What migrations of later versions may do: columns that the old one does not know, and a version that it does not know either."""
    with psycopg.connect(database, autocommit=True) as session:
        for table in ("dbos.workflow_status", "dbos.operation_outputs", "preflight_inbox", "preflight_findings"):
            session.execute(f"ALTER TABLE IF EXISTS {table} ADD COLUMN IF NOT EXISTS of_a_later_version TEXT DEFAULT 'new'")
        session.execute("UPDATE dbos.dbos_migrations SET version = version + 1")


async def test_a_database_that_restarts_loses_nothing(server: Server, tmp_path: Path) -> None:
    """Both processes lose the lock that says they live, so each may take the other's jobs over although it lives."""
    async with Simulator.start() as github:
        repository = github.create_repository("octo/restarted", {"train.py": TRAIN})
        port, other_port = free_port(), free_port()
        github.webhook_url = f"http://127.0.0.1:{port}/webhook"
        with process(github, tmp_path / "1", port, database=server.address), process(github, tmp_path / "2", other_port, database=server.address):
            await listening(port)
            await listening(other_port)
            pulls = [opened(repository, f"running-{number}", "# SLEEP 1\n") for number in range(3)]
            for pull in pulls:
                await until(lambda pull=pull: repository.check_runs(pull.head_sha))
            await asyncio.to_thread(server.stop)
            await asyncio.sleep(1.5)
            await asyncio.to_thread(server.start)
            pulls.append(opened(repository, "after"))
            for pull in pulls:
                await checked(repository, pull)
            await idle(port)
        for pull in pulls:
            assert (len(repository.check_runs(pull.head_sha)), len(pull.reviews), len(pull.comments)) == (1, 1, 1)
        assert github.violations == []
