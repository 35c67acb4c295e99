"""The demo's stage: the simulator, the bot beside it, a repository, and the change that is proposed to it."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import aiohttp
from aiohttp import web

from bot.app import create_app
from bot.cli.outcome import UsageError
from bot.settings import Pace, ServerSettings
from simulator import PullRequest, Repository, Simulator
from simulator.checkruns import CheckRun

#: The review takes seconds; after this long something is broken.
_PATIENCE_SECONDS = 300
_POLL_SECONDS = 0.1
_BRANCH = "bigger-batches"
_TITLE = "Bigger batches, an evaluation each epoch, and the mean loss"
_BODY = "Trains faster on the T4s, and says how it goes on held-out text."


@dataclass(slots=True)
class Stage:
    """One pull request, before and after ``play``."""

    github: Simulator
    repository: Repository
    bot: str
    _pull: PullRequest | None = None

    async def play(self) -> None:
        """Open the pull request and wait until the bot has said all it has to say. Raises UsageError if that takes too long."""
        self._pull = self.repository.open_pull_request(_BRANCH, title=_TITLE, body=_BODY, author="grace", files=guest("change"))
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self.github.deliveries_settled()
                while not self.runs or await self._active_jobs():  # noqa: ASYNC110  # the readiness page has no event
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError as error:
            raise UsageError(f"the review was not completed within {_PATIENCE_SECONDS} seconds") from error

    async def _active_jobs(self) -> int:
        """What the bot still has to do: review and comment come after the check."""
        async with aiohttp.ClientSession() as session, session.get(f"{self.bot}/readyz") as response:
            return int((await response.json())["active_jobs"])

    @property
    def pull(self) -> PullRequest:
        """The pull request that ``play`` opened."""
        if self._pull is None:
            raise RuntimeError("there is no pull request before the play")
        return self._pull

    @property
    def runs(self) -> tuple[CheckRun, ...]:
        """The check runs on its head."""
        return tuple(self.repository.check_runs(self.pull.head_sha))

    @property
    def violations(self) -> tuple[str, ...]:
        """Requests of the bot that GitHub would have refused."""
        return tuple(str(violation) for violation in self.github.violations)

    @property
    def page(self) -> str:
        """The address of the pull request's page."""
        return f"{self.github.web_url}/{self.repository.full_name}/pull/{self.pull.number}"


@asynccontextmanager
async def stage(port: int) -> AsyncIterator[Stage]:
    """Simulator and bot, running; ``port`` is that of the web page."""
    logging.getLogger().setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="preflight-demo-") as folder:
        async with Simulator.start(port=port) as github:
            runner = web.AppRunner(create_app(_settings(github, Path(folder))), access_log=None)
            await runner.setup()
            try:
                site = web.TCPSite(runner, "127.0.0.1", 0)
                await site.start()
                bot = f"http://127.0.0.1:{runner.addresses[0][1]}"
                github.webhook_url = f"{bot}/webhook"
                repository = github.create_repository("ada/tiny-gpt", guest("base"))
                github.install("ada")
                repository.grant("grace", "write")
                yield Stage(github, repository, bot)
            finally:
                await runner.cleanup()


def guest(part: str) -> Mapping[str, str]:
    """The files of the repository's ``base``, or of the ``change`` to it, by path."""
    folder = resources.files("bot.cli.demo") / "guest" / part
    return {each.name: each.read_text(encoding="utf-8") for each in sorted(folder.iterdir(), key=lambda each: each.name) if each.is_file()}


def _settings(github: Simulator, state: Path) -> ServerSettings:
    return ServerSettings(
        app_id=github.app_id,
        private_key=github.private_key,
        webhook_secrets=(github.webhook_secret.encode(),),
        state_dir=state,
        api_url=github.api_url,
        log_level="ERROR",
        pace=Pace(write_interval=0.0, poll=0.05),
    )
