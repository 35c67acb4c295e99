"""The bot and a GitHub on loopback, both in the test's own event loop."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web

from bot.app import create_app
from bot.settings import Pace, ServerSettings, WorkerLimits
from simulator import PullRequest, Repository, Simulator
from tests.bot.waiting import until

WORKER = (sys.executable, "-I", str(Path(__file__).parent / "marked_lines.py"))
_NUMBERS = count(1)
HURRIED = Pace(write_interval=0.0, short_wait=1.5, retry=0.01, poll=0.1, drain=0.0, settle=0.0, body_timeout=2.0)
LIMITS = WorkerLimits()
TRAIN = "BATCH = 8\nloss = model(batch)\nloss.backward()\noptimizer.step()\n"


def settings_for(github: Simulator, state_dir: Path, pace: Pace = HURRIED, limits: WorkerLimits = LIMITS) -> ServerSettings:
    return ServerSettings(
        app_id=github.app_id,
        private_key=github.private_key,
        webhook_secrets=(github.webhook_secret.encode(),),
        state_dir=state_dir,
        api_url=github.api_url,
        worker_command=WORKER,
        pace=pace,
        limits=limits,
    )


@asynccontextmanager
async def serving(settings: ServerSettings) -> AsyncIterator[str]:
    """The address of a bot that runs until the block ends."""
    runner = web.AppRunner(create_app(settings))
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def github() -> AsyncIterator[Simulator]:
    async with Simulator.start() as simulator:
        yield simulator
        assert simulator.violations == []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bot(github: Simulator, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """One bot for all tests of a file: starting the job engine takes seconds, and a test brings its own repository."""
    async with serving(settings_for(github, tmp_path_factory.mktemp("state"))) as address:
        github.webhook_url = f"{address}/webhook"
        yield address


@pytest.fixture
def repository(github: Simulator) -> Repository:
    return github.create_repository(f"octo/train-{next(_NUMBERS)}", {"train.py": TRAIN, "README.md": "Trains.\n"})


async def checked(repository: Repository, pull: PullRequest) -> None:
    """Wait until the check of the pull request's head is completed."""
    await until(lambda: any(run.status == "completed" for run in repository.check_runs(pull.head_sha)))


async def reviewed(repository: Repository, pull: PullRequest) -> None:
    """Wait until the check is completed, and until review and comment, which come after it, are posted too."""
    await checked(repository, pull)
    await at_rest(repository)


async def at_rest(repository: Repository, seconds: float = 60.0) -> None:
    """Wait until the bot that gets the deliveries has nothing left to do."""
    webhook = repository.platform.outbox.url or ""

    async def idle() -> bool:
        async with aiohttp.ClientSession() as session, session.get(webhook.replace("/webhook", "/readyz")) as response:
            return bool((await response.json())["active_jobs"] == 0)

    await until(idle, seconds)
