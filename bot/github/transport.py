"""One HTTP exchange with GitHub: only its own hosts, a time limit, and errors told apart."""

from __future__ import annotations

import json as jsonlib
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urljoin

import aiohttp
from yarl import URL

from bot.github.errors import GitHubError, NotFoundError, RateLimitedError, RefusedError, TransientError, UntrustedHostError
from bot.github.rate_limit import seconds_to_wait
from bot.metrics import Metrics

_HEADERS = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": "preflight-bot",
}
_REDIRECTIONS = frozenset({301, 302, 307, 308})
_MAX_ANSWER_BYTES = 64 << 20
_SHOWN_CHARACTERS = 300
#: An owner takes that back as often as not, and a check that was begun must not stay in progress then.
_SUSPENDED = "installation has been suspended"


class UnauthorizedError(GitHubError):
    """401: the token has ended or was revoked."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful answer: its JSON (None if there is none) and its headers."""

    data: Any
    headers: Mapping[str, str]


@dataclass(slots=True)
class Transport:
    """Sends requests to ``api_url`` and nowhere else, except for the archive host that GitHub redirects to."""

    api_url: str
    graphql_url: str
    timeout: float
    metrics: Metrics
    _hosts: frozenset[str] = field(init=False)
    _session: aiohttp.ClientSession | None = None

    def __post_init__(self) -> None:
        host = URL(self.api_url).authority
        self._hosts = frozenset({host, f"codeload.{host.removeprefix('api.')}"})

    async def __aenter__(self) -> Self:
        # Nothing is remembered between installations: no cookies.
        self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        return self

    async def __aexit__(self, *_raised: object) -> None:
        if self._session is not None:
            await self._session.close()

    @property
    def session(self) -> aiohttp.ClientSession:
        """The open session."""
        if self._session is None:
            raise RuntimeError("the transport is used outside its async with block")
        return self._session

    async def send(self, method: str, path: str, token: str, json: object = None, params: Mapping[str, str] | None = None) -> Answer:
        """One request to the API. Raises a GitHubError that says what to do."""
        address = self.graphql_url if path == "/graphql" else self.api_url + path
        async with self.open(method, address, token, json, params) as response:
            body = await self._read(response, f"{method} {path}")
            return Answer(jsonlib.loads(body) if body else None, response.headers)

    async def exchange(self, path: str) -> Answer:
        """A POST without a token: a code in ``path`` speaks for itself."""
        async with self.open("POST", self.api_url + path, None) as response:
            body = await self._read(response, "POST /app-manifests/…")
            return Answer(jsonlib.loads(body), response.headers)

    @asynccontextmanager
    async def open(
        self, method: str, address: str, token: str | None, json: object = None, params: Mapping[str, str] | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A response with a good status, its body unread; redirects are followed to GitHub's own hosts, without the token."""
        url = self._trusted(address)
        headers = _HEADERS | ({"Authorization": f"Bearer {token}"} if token else {})
        label = f"{method} {url.path}"
        try:
            async with self.session.request(
                method,
                url,
                json=json,
                params=params,
                headers=headers,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(sock_connect=self.timeout, sock_read=self.timeout),
            ) as response:
                self.metrics.requests.add(method=method, status=str(response.status))
                self._note_budget(response.headers)
                if response.status in _REDIRECTIONS and (method == "GET" or self._is_renamed(response)):
                    async with self._redirected(method, response, token, json) as followed:
                        yield followed
                    return
                await self._require_success(response, label)
                yield response
        except (aiohttp.ClientError, TimeoutError) as error:
            self.metrics.requests.add(method=method, status="broken")
            raise TransientError(f"{label}: {type(error).__name__}: {error}") from error

    @asynccontextmanager
    async def _redirected(self, method: str, response: aiohttp.ClientResponse, token: str | None, json: object) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer at the other address: the same request, without the token where that is another host."""
        target = _target(response)
        if target == response.url:
            raise GitHubError(f"{method} {response.url.path}: redirected to itself", response.status)
        keeps_token = target.authority == response.url.authority
        async with self.open(method, str(target), token if keeps_token else None, json) as followed:
            yield followed

    def _is_renamed(self, response: aiohttp.ClientResponse) -> bool:
        """Whether the API leads to the same repository by its id: then nothing was written yet, and the write goes there."""
        target = _target(response)
        by_id = URL(self.api_url).path.rstrip("/") + "/repositories/"
        return target.authority == response.url.authority and target.path.startswith(by_id)

    def _note_budget(self, headers: Mapping[str, str]) -> None:
        left = headers.get("X-RateLimit-Remaining", "")
        if left.isascii() and left.isdigit():
            self.metrics.budget.set(int(left), resource=headers.get("X-RateLimit-Resource", "core"))

    def _trusted(self, address: str) -> URL:
        url = URL(address)
        if url.authority not in self._hosts:
            raise UntrustedHostError(f"refusing to call {url.host}: it is not the GitHub that this bot is configured for")
        return url

    async def _read(self, response: aiohttp.ClientResponse, label: str) -> bytes:
        body = bytearray()
        async for chunk in response.content.iter_chunked(1 << 16):
            body += chunk
            if len(body) > _MAX_ANSWER_BYTES:
                raise GitHubError(f"{label}: the answer is larger than {_MAX_ANSWER_BYTES >> 20} MiB")
        return bytes(body)

    async def _require_success(self, response: aiohttp.ClientResponse, label: str) -> None:
        status = response.status
        if status < 300:  # noqa: PLR2004  # the end of the successful range
            return
        body = (await response.content.read(1 << 16)).decode("utf-8", "replace")
        message = f"{label}: {status} {body[:_SHOWN_CHARACTERS]}"
        wait = seconds_to_wait(status, response.headers, body, time.time())
        if wait is not None:
            raise RateLimitedError(message, wait)
        match status:
            case 401:
                raise UnauthorizedError(message, status)
            case 404 | 410:
                raise NotFoundError(message, status)
            case 403 if _SUSPENDED in body:
                raise TransientError(message, status)
            case 403 | 409 | 422:
                raise RefusedError(message, status)
            case _ if status >= 500:  # noqa: PLR2004  # server errors
                raise TransientError(message, status)
            case _:
                raise GitHubError(message, status)


def _target(response: aiohttp.ClientResponse) -> URL:
    return URL(urljoin(str(response.url), response.headers.get("Location", "")))
