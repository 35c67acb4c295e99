"""The bot as a process of its own that is killed with SIGKILL and started again, whatever it is doing."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import aiohttp

from simulator import Simulator
from simulator.ports import free_port

ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class Server:
    """One server; its output goes to ``log``, its jobs to ``database`` (empty: SQLite in ``state``)."""

    github: Simulator
    state: Path
    log: IO[bytes]
    database: str = ""
    module: tuple[str, ...] = ("benchmarks.campaign.serve",)
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process; deliveries fail until it listens."""
        settings = {
            "PREFLIGHT_APP_ID": str(self.github.app_id),
            "PREFLIGHT_PRIVATE_KEY": self.github.private_key,
            "PREFLIGHT_WEBHOOK_SECRET": self.github.webhook_secret,
            "PREFLIGHT_GITHUB_API_URL": self.github.api_url,
            "PREFLIGHT_STATE_DIR": str(self.state),
            "PREFLIGHT_PORT": str(self.port),
            "PREFLIGHT_DATABASE_URL": self.database,
            "PREFLIGHT_LOG_LEVEL": "WARNING",
        }
        environment = {"PATH": os.environ["PATH"], **settings}
        self.process = subprocess.Popen([sys.executable, "-m", *self.module], env=environment, cwd=ROOT, stdout=self.log, stderr=self.log)

    def kill(self) -> None:
        """End the process as a power cut would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def stop(self) -> None:
        """End the process as a deployment would."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=30)

    async def ready(self) -> int | None:
        """How many jobs wait or run; None while the server does not answer."""
        try:
            async with aiohttp.ClientSession() as session, session.get(f"{self.address}/readyz") as response:
                return int((await response.json())["active_jobs"])
        except (aiohttp.ClientError, TimeoutError, KeyError):
            return None

    async def until_ready(self) -> None:
        """Wait until the server answers."""
        for _ in range(900):
            if await self.ready() is not None:
                return
            await asyncio.sleep(0.2)
        raise TimeoutError("the server did not start within three minutes")

    async def idle(self, within: float) -> bool:
        """Wait until nothing is left to do, at most ``within`` seconds; gives whether that came."""
        quiet = 0
        for _ in range(int(within / 0.25)):
            quiet = quiet + 1 if await self.ready() == 0 else 0
            if quiet > 12:  # noqa: PLR2004  # longer than a job that is put off, and than a look for failed deliveries
                return True
            await asyncio.sleep(0.25)
        return False

    @property
    def address(self) -> str:
        """Where the server listens."""
        return f"http://127.0.0.1:{self.port}"
