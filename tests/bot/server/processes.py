"""The bot as a process of its own, which can be killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import aiohttp

from simulator import Simulator
from tests.bot.waiting import until

ROOT = Path(__file__).parents[3]


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", *(words or ("tests.bot.server.serve_marked",))]


def environment(github: Simulator, state: Path, port: int, database: str = "") -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PREFLIGHT_APP_ID": str(github.app_id),
        "PREFLIGHT_PRIVATE_KEY": github.private_key,
        "PREFLIGHT_WEBHOOK_SECRET": github.webhook_secret,
        "PREFLIGHT_GITHUB_API_URL": github.api_url,
        "PREFLIGHT_STATE_DIR": str(state),
        "PREFLIGHT_PORT": str(port),
        "PREFLIGHT_DATABASE_URL": database,
    }


@contextmanager
def process(
    github: Simulator, state: Path, port: int, *words: str, database: str = "", log: IO[bytes] | None = None, level: str = "INFO"
) -> Iterator[subprocess.Popen[bytes]]:
    """A server, or what ``words`` run, on ``port`` until the block ends; ``log`` takes what it writes."""
    settings = environment(github, state, port, database) | {"PREFLIGHT_LOG_LEVEL": level}
    with subprocess.Popen(command(*words), env=settings, cwd=ROOT, stdout=log, stderr=log) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=30)


async def listening(port: int) -> None:
    await until(lambda: status(port, "/readyz"))


async def idle(port: int) -> None:
    async def idle() -> bool:
        return await status(port, "/readyz") == {"status": "ready", "active_jobs": 0}

    await until(idle)


async def status(port: int, path: str) -> object:
    try:
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as response:
            return await response.json() if response.status == 200 else None
    except aiohttp.ClientError:
        return None
