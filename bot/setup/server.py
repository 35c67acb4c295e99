"""The server of the setup page: it lives until the App is made, and only whoever reads the terminal can use it."""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web

from bot.github.errors import GitHubError
from bot.github.transport import Transport
from bot.metrics import Metrics
from bot.settings import SettingsError, SetupSettings
from bot.setup import html
from bot.setup.credentials import credentials_from, require_none, write_credentials
from bot.setup.manifest import Choices, manifest

_TIMEOUT_SECONDS = 30.0
_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")
_ORGANIZATION = re.compile(r"[A-Za-z0-9-]{0,100}")
_LOCAL = {"localhost", "127.0.0.1", "::1", ""}

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Setup:
    """One setup: ``key`` is in the address that the terminal shows, ``state`` comes back from GitHub."""

    settings: SetupSettings
    folder: Path
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    state: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def application(self) -> web.Application:
        """The application with its one route."""
        application = web.Application()
        application.add_routes([web.get("/setup", self.page)])
        return application

    async def page(self, request: web.Request) -> web.Response:
        """The form, then what it asks for, then, when GitHub sends the browser back, the end."""
        query = request.query
        if "code" in query:
            return await self._finish(query["code"], query.get("state", ""))
        if not hmac.compare_digest(query.get("key", "").encode(), self.key.encode()):
            return _shown("<p>Open the address that the terminal shows: it holds the key to this page.</p>", self.settings, status=403)
        if "address" not in query:
            return _shown(html.asking(self.key), self.settings)
        choices = Choices(query["address"].rstrip("/"), query.get("organization", "").strip(), "commits" in query, "scanning" in query)
        problem = problem_with(choices)
        if problem:
            return _shown(html.asking(self.key, problem), self.settings, status=400)
        target = f"organizations/{choices.organization}/settings/apps/new" if choices.organization else "settings/apps/new"
        address = f"{self.settings.web_url}/{target}?state={self.state}"
        back = f"{request.url.origin()}/setup"
        return _shown(html.confirming(choices, manifest(choices, back), address), self.settings)

    async def _finish(self, code: str, state: str) -> web.Response:
        if not hmac.compare_digest(state.encode(), self.state.encode()) or not _CODE.fullmatch(code):
            return _shown("<p>This does not come from the page that was opened here. Begin again.</p>", self.settings, status=403)
        api = self.settings.api_url
        try:
            async with Transport(api, self.settings.graphql_url, _TIMEOUT_SECONDS, Metrics()) as transport:
                answer = await transport.exchange(f"/app-manifests/{code}/conversions")
            credentials = credentials_from(answer.data)
            key = await asyncio.to_thread(write_credentials, credentials, self.folder)
        except (GitHubError, SettingsError, OSError, ValueError) as error:
            # The path of the request holds a code that is good for an hour, so GitHub's status has to do.
            log.warning("the App could not be set up: %s", f"GitHub answered {error.status}" if isinstance(error, GitHubError) else error)
            return _shown(
                html.asking(self.key, "GitHub did not give the credentials, or they could not be written. The log says why."), self.settings, status=502
            )
        self.done.set()
        return _shown(html.finished(credentials, key.name), self.settings)


async def set_up(setup: Setup, host: str, port: int) -> None:
    """Serve the page until the App is made. Raises SettingsError where there are credentials already."""
    require_none(setup.folder)
    runner = web.AppRunner(setup.application(), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        await setup.done.wait()
    finally:
        await runner.cleanup()


def problem_with(choices: Choices) -> str:
    """Why GitHub could not use these choices; "" where it can."""
    parts = urlsplit(choices.address)
    if parts.scheme not in {"http", "https"} or parts.query or parts.fragment or (parts.hostname or "") in _LOCAL:
        return "The address must be one that GitHub can reach: https://… and not localhost. In development, forward a public address to this machine."
    if not _ORGANIZATION.fullmatch(choices.organization):
        return "An organization's name has letters, digits and hyphens only."
    return ""


def _shown(text: str, settings: SetupSettings, status: int = 200) -> web.Response:
    headers = {
        "Content-Security-Policy": f"default-src 'none'; style-src 'unsafe-inline'; form-action 'self' {settings.web_url}; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",  # the address holds the key
        "Cache-Control": "no-store",
    }
    return web.Response(text=text, content_type="text/html", headers=headers, status=status)
