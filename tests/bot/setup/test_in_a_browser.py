"""The setup page and the landing page as Chromium shows them, with the policy they are sent with in force."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.settings import SetupSettings
from bot.setup.server import Setup, set_up
from simulator import Simulator
from simulator.ports import free_port
from tests.bot.server.conftest import serving, settings_for

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")


@pytest.fixture
async def github() -> AsyncIterator[Simulator]:
    async with Simulator.start() as simulator:
        yield simulator


async def shown(address: str, folder: Path) -> str:
    """The document after Chromium has loaded it."""
    browser = await asyncio.create_subprocess_exec(
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder}",
        "--dump-dom",
        address,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await browser.communicate()
    return output.decode()


async def test_the_setup_page(github: Simulator, tmp_path: Path) -> None:
    setup = Setup(SetupSettings(github.api_url, github.web_url, "127.0.0.1", free_port()), tmp_path)
    running = asyncio.create_task(set_up(setup, setup.settings.host, setup.settings.port))
    address = f"http://127.0.0.1:{setup.settings.port}/setup?key={setup.key}"
    try:
        form = await shown(address, tmp_path / "profile")
        assert '<input id="address" name="address" type="url" required=""' in form
        confirmed = await shown(f"{address}&address=https%3A%2F%2Fpreflight.example.com&scanning=yes", tmp_path / "profile")
        assert "security_events: write" in confirmed
        assert "Create it on GitHub" in confirmed
    finally:
        running.cancel()


async def test_the_landing_page(github: Simulator, tmp_path: Path) -> None:
    async with serving(settings_for(github, tmp_path / "state")) as address:
        page = await shown(address, tmp_path / "profile")
    assert "Install it on a repository" in page
