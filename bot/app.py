"""The server: one aiohttp application that takes webhooks and works on jobs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from aiohttp import web

from bot.catch_up import CatchUp
from bot.chains import chains
from bot.chores import every
from bot.database import Database, SQLite
from bot.github.app import App
from bot.github.cache import remove_unused
from bot.github.transport import Transport
from bot.inbox import Inbox
from bot.intake import Intake
from bot.jobs import Jobs
from bot.ledger import Ledger
from bot.logs import configure_logging
from bot.metrics import Metrics
from bot.pages import Pages
from bot.performer import Performer
from bot.postgres import Postgres
from bot.readiness import require_ready
from bot.settings import ServerSettings, SettingsError
from bot.shared_turns import SharedTurns
from bot.webhook import MAX_BYTES, Webhook
from bot.workplace import Workplace

_DAY_SECONDS = 86_400
_THREADS = 64
#: Once the port surely answers.
_FIRST_CATCH_UP_SECONDS = 30.0


def create_app(settings: ServerSettings, *, takes_webhooks: bool = True) -> web.Application:
    """The application; on start it takes the job database and resumes what a former process left."""
    metrics = Metrics()
    transport = Transport(settings.api_url, settings.graphql_url, settings.pace.request_timeout, metrics)
    database, ledger = database_of(settings), Ledger(settings.ledger_url)
    turns = SharedTurns(settings.storage_url) if database.shared else None
    app = App(settings, transport, turns)
    jobs = Jobs(database, Performer(chains(Workplace(settings, app, database, ledger)), settings.pace, metrics), settings.pace)
    intake = Intake(Inbox(settings.inbox_url), jobs, settings.pace)

    async def running(_application: web.Application) -> AsyncIterator[None]:
        # The job engine stores and reads in threads: a delivery must not wait there behind archives that are unpacked.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
        async with transport:
            await jobs.start()
            await intake.start()
            chores = [asyncio.create_task(every(_DAY_SECONDS, lambda: _remove_unused(settings)))]
            if takes_webhooks:
                redeliver = CatchUp(app, metrics).redeliver
                chores.append(asyncio.create_task(every(settings.pace.catch_up, redeliver, first=min(settings.pace.catch_up, _FIRST_CATCH_UP_SECONDS))))
            yield
            for chore in chores:
                chore.cancel()
            await intake.stop()
            await jobs.stop()
            ledger.close()
            if turns is not None:
                turns.close()

    application = web.Application(client_max_size=MAX_BYTES)
    application.cleanup_ctx.append(running)
    pages = Pages(app, intake, metrics, ledger)
    application.add_routes(
        [
            *([web.post("/webhook", Webhook(settings, intake, metrics).receive), web.get("/", pages.landing)] if takes_webhooks else []),
            web.get("/healthz", pages.health),
            web.get("/readyz", pages.ready),
            web.get("/metrics", pages.prometheus),
        ]
    )
    return application


def serve(settings: ServerSettings) -> None:
    """Serve until SIGINT or SIGTERM. Raises SettingsError or DatabaseUnavailableError where it cannot begin."""
    _run(settings, takes_webhooks=True)


def work(settings: ServerSettings) -> None:
    """Work on jobs beside other processes; only health and metrics are served. Raises SettingsError without Postgres, else as ``serve`` does."""
    if not database_of(settings).shared:
        raise SettingsError("several processes need PREFLIGHT_DATABASE_URL=postgresql://…; on SQLite `serve` does all the work itself")
    _run(settings, takes_webhooks=False)


def _run(settings: ServerSettings, *, takes_webhooks: bool) -> None:
    require_ready(settings)
    configure_logging(settings.log_level)

    def listening(_says: str) -> None:
        sys.stderr.write(f"listening on http://{settings.host}:{settings.port}\n")

    web.run_app(create_app(settings, takes_webhooks=takes_webhooks), host=settings.host, port=settings.port, print=listening)


def database_of(settings: ServerSettings) -> Database:
    """The storage that ``PREFLIGHT_DATABASE_URL`` names."""
    url = settings.storage_url
    if url.startswith("sqlite:///"):
        return SQLite(Path(url.removeprefix("sqlite:///")))
    return Postgres(url)


async def _remove_unused(settings: ServerSettings) -> None:
    """Forget contents that nobody has asked for in a while."""
    await asyncio.to_thread(remove_unused, settings.state_dir / "cache")
