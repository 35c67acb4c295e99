"""From nothing to an App: the page, GitHub's answer, and credentials that only their owner can read."""

from __future__ import annotations

import asyncio
import html
import re
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import yaml

from bot.settings import SettingsError, SetupSettings, from_environment
from bot.setup.manifest import DEFAULT_PERMISSIONS, EVENTS, Choices, manifest
from bot.setup.server import Setup, problem_with, set_up
from simulator import Simulator
from simulator.ports import free_port
from tests.bot.waiting import until

CHOSEN = {"address": "https://preflight.example.com/", "commits": "yes"}


@pytest.fixture
async def github() -> AsyncIterator[Simulator]:
    async with Simulator.start() as simulator:
        yield simulator
        assert simulator.violations == []


@pytest.fixture
async def setup(github: Simulator, tmp_path: Path) -> AsyncIterator[Setup]:
    setup = Setup(SetupSettings(github.api_url, github.web_url, "127.0.0.1", free_port()), tmp_path)
    running = asyncio.create_task(set_up(setup, setup.settings.host, setup.settings.port))
    async with aiohttp.ClientSession() as session:
        await until(lambda: _listens(session, setup))
    yield setup
    running.cancel()


async def _listens(session: aiohttp.ClientSession, setup: Setup) -> bool:
    try:
        async with session.get(_address(setup)):
            return True
    except aiohttp.ClientError:
        return False


def _address(setup: Setup) -> str:
    return f"http://{setup.settings.host}:{setup.settings.port}/setup"


def files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def _got(page: str, /, **query: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(page, params=query) as response:
        return response.status, await response.text()


async def test_from_the_form_to_the_credentials(github: Simulator, setup: Setup, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PREFLIGHT_PORT=9000")
    assert (await _got(_address(setup), key=setup.key))[0] == 200
    status, page = await _got(_address(setup), key=setup.key, **CHOSEN)
    assert status == 200
    assert "contents: write" in page
    target = html.unescape(re.findall(r'method="post" action="([^"]+)"', page)[0])
    filled = html.unescape(re.findall(r'name="manifest" value="([^"]+)"', page)[0])
    async with aiohttp.ClientSession() as session, session.post(target, data={"manifest": filled}) as response:
        assert response.status == 200
        assert "is made" in await response.text()
    settings = from_environment({}, tmp_path)
    assert (settings.app_id, settings.port) == (github.app_id, 9000)
    assert settings.private_key == github.private_key
    assert settings.webhook_secrets == (github.webhook_secret.encode(),)
    for path in (tmp_path / ".env", tmp_path / "preflight-bot.private-key.pem"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    await until(setup.done.is_set)


async def test_without_the_key_there_is_no_page(setup: Setup, tmp_path: Path) -> None:
    for query in ({}, {"key": "x"}, {"key": "", **CHOSEN}, {"code": "x"}, {"code": "x", "state": "y"}):
        assert (await _got(_address(setup), **query))[0] == 403
    assert files(tmp_path) == []


async def test_a_code_that_github_does_not_know(setup: Setup, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert (await _got(_address(setup), code="made-up", state=setup.state))[0] == 502
    assert "made-up" not in caplog.text
    assert (await _got(_address(setup), code="../app", state=setup.state))[0] == 403
    assert files(tmp_path) == []


async def test_the_page_runs_no_script_and_tells_nobody_its_address(setup: Setup) -> None:
    async with aiohttp.ClientSession() as session, session.get(_address(setup), params={"key": setup.key, "address": '"><script>'}) as response:
        assert "<script" not in await response.text()
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert (response.headers["Referrer-Policy"], response.headers["Cache-Control"]) == ("no-referrer", "no-store")


@pytest.mark.parametrize("address", ["localhost", "http://localhost:8080", "http://127.0.0.1", "ftp://a.example", "https://a.example/?x=1", "https://"])
def test_an_address_that_github_cannot_deliver_to(address: str) -> None:
    assert problem_with(Choices(address))


@pytest.mark.parametrize("organization", ["a/b", "..", "a b"])
def test_an_organization_is_a_name(organization: str) -> None:
    assert problem_with(Choices("https://a.example", organization))


def test_credentials_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PREFLIGHT_APP_ID=1\n")
    with pytest.raises(SettingsError, match="PREFLIGHT_APP_ID already"):
        asyncio.run(set_up(Setup(SetupSettings("", "", "", 0), tmp_path), "127.0.0.1", free_port()))


def test_the_manifest_is_that_of_the_file() -> None:
    written = yaml.safe_load((Path(__file__).parents[3] / "app.yml").read_text())
    made = manifest(Choices("https://example.com/preflight"), "https://example.com/preflight/setup")
    assert made == written
    assert (made["default_permissions"], made["default_events"]) == (dict(DEFAULT_PERMISSIONS), list(EVENTS))
