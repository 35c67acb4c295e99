"""Two processes on one Postgres: a job of the one that is killed is finished by the other, and posted once."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bot.postgres import Postgres
from simulator import Simulator
from simulator.ports import free_port
from tests.bot.server.conftest import TRAIN, checked
from tests.bot.server.processes import idle, listening, process
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

pytestmark = pytest.mark.skipif(shutil.which("initdb") is None and not Path("/usr/lib/postgresql").is_dir(), reason="PostgreSQL is not installed here")


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """The address of a fresh server; it refuses to run as root, who alone may enter the folders that pytest makes."""
    with tempfile.TemporaryDirectory(prefix="preflight-postgres-") as folder:
        yield from _serving(Path(folder))


def _serving(folder: Path) -> Iterator[str]:
    port = free_port()
    user = {} if os.geteuid() else {"user": "postgres", "group": pwd.getpwnam("postgres").pw_gid, "extra_groups": []}
    if user:
        shutil.chown(folder, "postgres")
    programs = _programs()
    subprocess.run([programs / "initdb", "-D", folder / "data", "-U", "preflight", "-A", "trust"], check=True, capture_output=True, **user)
    command = [programs / "postgres", "-D", folder / "data", "-p", str(port), "-k", str(folder), "-h", "127.0.0.1", "-F"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **user) as server:
        address = f"postgresql://preflight@127.0.0.1:{port}"
        try:
            _connected(f"{address}/postgres").execute("CREATE DATABASE jobs")
            yield f"{address}/jobs"
        finally:
            server.send_signal(signal.SIGQUIT)


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


async def test_a_killed_process_is_stood_in_for(database: str, tmp_path: Path) -> None:
    async with Simulator.start() as github:
        repository = github.create_repository("octo/train", {"train.py": TRAIN})
        first_port, second_port = free_port(), free_port()
        github.webhook_url = f"http://127.0.0.1:{first_port}/webhook"
        with process(github, tmp_path / "1", first_port, database=database) as first:
            await listening(first_port)
            pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY + "# SLEEP 3\n"})
            await until(lambda: repository.check_runs(pull.head_sha))
            with process(github, tmp_path / "2", second_port, database=database):
                await listening(second_port)
                first.send_signal(signal.SIGKILL)
                await asyncio.to_thread(first.wait)
                await checked(repository, pull)
                await idle(second_port)
        assert (len(repository.check_runs(pull.head_sha)), len(pull.reviews), len(pull.comments)) == (1, 1, 1)
        assert github.violations == []


def _programs() -> Path:
    found = shutil.which("initdb")
    return Path(found).parent if found else max(Path("/usr/lib/postgresql").glob("*/bin"))


def _connected(address: str) -> psycopg.Connection[Any]:
    """A connection, once the server takes one."""
    for _ in range(300):
        try:
            return psycopg.connect(address, autocommit=True)
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise AssertionError("PostgreSQL did not start")
