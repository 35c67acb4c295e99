"""The routes for people and for machines that watch: landing page, health, readiness, metrics."""

from __future__ import annotations

import asyncio
import html
import logging
from dataclasses import dataclass

from aiohttp import web

from bot.github.app import App
from bot.github.errors import GitHubError
from bot.intake import Intake
from bot.ledger import Ledger
from bot.metrics import Metrics

log = logging.getLogger(__name__)

_LANDING = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Preflight</title>
<style>body{{font:17px/1.5 system-ui,sans-serif;max-width:38rem;margin:4rem auto;padding:0 1rem}}</style>
<h1>Preflight</h1>
<p>A GitHub App that reads the PyTorch code of a pull request without running it. It says on the changed lines what
will silently go wrong in training, offers the patch, and tells how much GPU memory the run takes before and after
the change, and whether it fits.</p>
<p>{install}</p>
</html>
"""


@dataclass(frozen=True, slots=True)
class Pages:
    """Handlers of the routes that only read."""

    app: App
    intake: Intake
    metrics: Metrics
    ledger: Ledger

    async def landing(self, _request: web.Request) -> web.Response:
        """What this is, and where to install it."""
        return web.Response(text=_LANDING.format(install=await self._install()), content_type="text/html")

    async def health(self, _request: web.Request) -> web.Response:
        """The process answers."""
        return web.json_response({"status": "alive"})

    async def ready(self, _request: web.Request) -> web.Response:
        """Jobs can be stored; 503 where they cannot."""
        try:
            queue = await self.intake.queue()
        except Exception:
            log.exception("the job database does not answer")
            return web.json_response({"status": "the job database does not answer"}, status=web.HTTPServiceUnavailable.status_code)
        return web.json_response({"status": "ready", "active_jobs": queue.active})

    async def prometheus(self, _request: web.Request) -> web.Response:
        """The metrics in Prometheus' text format."""
        for count in await asyncio.to_thread(self.ledger.counts):
            self.metrics.fates.set(count.findings, rule=count.rule, fate=count.fate.value)
        text = self.metrics.exposition(await self.intake.queue())
        return web.Response(body=text.encode(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    async def _install(self) -> str:
        try:
            slug = await self.app.slug()
        except GitHubError as error:
            log.warning("the App's name could not be read: %s", error)
            return "GitHub does not answer at the moment, so there is no link to install it."
        address = html.escape(f"{self.app.settings.web_url}/apps/{slug}/installations/new", quote=True)
        return f'<a href="{address}">Install it on a repository</a>.'
