"""``preflight doctor`` says what is missing."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bot.doctor import examine
from bot.settings import ServerSettings
from bot.setup.manifest import DEFAULT_PERMISSIONS, EVENTS
from simulator import Simulator
from simulator.ports import free_port
from tests.bot.server.conftest import serving, settings_for


@pytest.fixture
async def github() -> AsyncIterator[Simulator]:
    async with Simulator.start(permissions=DEFAULT_PERMISSIONS, events=EVENTS) as simulator:
        yield simulator


async def said(settings: ServerSettings) -> list[str]:
    """What is not good."""
    return [diagnosis.says async for diagnosis in examine(settings) if not diagnosis.good]


async def test_nothing_is_missing(github: Simulator, tmp_path: Path) -> None:
    github.install("octo")
    assert await said(settings_for(github, tmp_path)) == []
    assert github.violations == []


async def test_nobody_has_installed_it(github: Simulator, tmp_path: Path) -> None:
    (only,) = await said(settings_for(github, tmp_path))
    assert "installed nowhere" in only


async def test_an_owner_who_has_not_accepted_new_permissions(github: Simulator, tmp_path: Path) -> None:
    github.install("octo", permissions={"metadata": "read"})
    (only,) = await said(settings_for(github, tmp_path))
    assert "not accepted" in only
    assert "octo" in only


async def test_permissions_and_events(tmp_path: Path) -> None:
    async with Simulator.start(permissions={"metadata": "read", "contents": "read"}, events=("pull_request",)) as github:
        permissions, events, *_ = await said(settings_for(github, tmp_path))
    assert "pull_requests: write, checks: write" in permissions
    assert "issue_comment" in events


async def test_another_apps_key(github: Simulator, tmp_path: Path) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    foreign = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    (only,) = await said(replace(settings_for(github, tmp_path), private_key=foreign))
    assert "does not take the key" in only


async def test_no_key_at_all(github: Simulator, tmp_path: Path) -> None:
    (only,) = await said(replace(settings_for(github, tmp_path), private_key="-----BEGIN PRIVATE KEY-----"))
    assert "cannot sign" in only


async def test_github_is_out_of_reach(github: Simulator, tmp_path: Path) -> None:
    (only,) = await said(replace(settings_for(github, tmp_path), api_url="http://127.0.0.1:9"))
    assert "cannot be reached" in only


async def test_a_folder_that_cannot_be_made(github: Simulator, tmp_path: Path) -> None:
    github.install("octo")
    (tmp_path / "file").write_text("")
    folder, *_ = await said(settings_for(github, tmp_path / "file" / "state"))
    assert "cannot be written" in folder


@pytest.mark.parametrize(("ahead", "says"), [(300, "300 s ahead of"), (-300, "300 s behind")])
async def test_a_clock_that_is_wrong(github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: int, says: str) -> None:
    github.install("octo")
    monkeypatch.setattr("bot.doctor.time", SimpleNamespace(time=lambda: round(time.time()) + ahead))
    (only,) = await said(settings_for(github, tmp_path))
    assert re.sub(r"\b(299|301) s", "300 s", only).startswith(f"This clock is {says} GitHub's")


@pytest.mark.parametrize(("path", "says"), [("/webhook", "ended with 401 ("), (None, "ended with 502 (")])
async def test_github_does_not_reach_the_server(github: Simulator, tmp_path: Path, path: str | None, says: str) -> None:
    github.webhook_url = f"{github.api_url}{path}" if path else f"http://127.0.0.1:{free_port()}/webhook"
    github.install("octo")
    await github.deliveries_settled()
    (only,) = await said(settings_for(github, tmp_path))
    assert only.startswith("GitHub does not reach this server: its latest delivery (installation, ")
    assert says in only


async def test_github_reaches_the_server(github: Simulator, tmp_path: Path) -> None:
    settings = settings_for(github, tmp_path)
    async with serving(settings) as address:
        github.webhook_url = f"{address}/webhook"
        github.install("octo")
        await github.deliveries_settled()
        found = [diagnosis async for diagnosis in examine(settings)]
    assert all(diagnosis.good for diagnosis in found)
    assert "was taken" in found[-1].says
