"""A client of the App against the simulator, without a server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.github.app import App
from bot.github.client import Client
from bot.github.snapshots import Reader
from bot.github.transport import Transport
from bot.metrics import Metrics
from bot.settings import Pace, ServerSettings, WorkerLimits
from simulator import Repository, Simulator

PACE = Pace(write_interval=0.0, short_wait=1.5, retry=0.01, settle=0.0)


@pytest.fixture
async def github() -> AsyncIterator[Simulator]:
    async with Simulator.start() as simulator:
        yield simulator
        assert simulator.violations == []


@pytest.fixture
async def app(github: Simulator, tmp_path: Path) -> AsyncIterator[App]:
    settings = ServerSettings(
        app_id=github.app_id, private_key=github.private_key, webhook_secrets=(b"secret",), state_dir=tmp_path, api_url=github.api_url, pace=PACE
    )
    async with Transport(settings.api_url, settings.graphql_url, 10.0, Metrics()) as transport:
        yield App(settings, transport)


def client_for(github: Simulator, app: App, repository: Repository) -> Client:
    installation = github.platform.installation_of(repository)
    assert installation is not None
    return app.client(installation.id, repository.id, repository.full_name)


def reader_for(client: Client, folder: Path, limits: WorkerLimits | None = None) -> Reader:
    return Reader(client, folder / "cache", limits or WorkerLimits())
