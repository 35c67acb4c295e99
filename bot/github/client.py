"""Requests in the name of one installation on one repository."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Self

import aiohttp

from bot.github.app_auth import PERMISSIONS, Permissions, TokenCache
from bot.github.errors import GitHubError, RateLimitedError, RefusedError, TransientError
from bot.github.pacing import Turn, repeated_read
from bot.github.rate_limit import seconds_to_wait
from bot.github.transport import Answer, Transport, UnauthorizedError
from bot.settings import Pace

_PAGE = 100
_MAX_PAGES = 40


@dataclass(slots=True)
class Client:
    """Reads and writes of one repository. Paths begin with ``{repo}`` where the repository stands."""

    transport: Transport
    tokens: TokenCache
    pace: Pace
    turn: Turn
    installation: int
    repository: int
    full_name: str
    permissions: Permissions = field(default_factory=lambda: PERMISSIONS)
    condition: Callable[[], Awaitable[None]] | None = None

    def allowed(self, **permissions: str) -> Self:
        """The same client with a token that carries ``permissions`` and nothing else, which the installation must have granted."""
        return replace(self, permissions={"metadata": "read", **permissions})

    async def get(self, path: str, **params: str) -> Any:
        """The JSON of one page; repeated while GitHub or the line is unwell."""
        return (await repeated_read(self.pace, lambda: self._send("GET", path, None, params))).data

    async def pages(self, path: str, key: str | None = None, **params: str) -> list[Any]:
        """All entries of a paged list; ``key`` names them where the page is an object. Raises GitHubError beyond forty pages."""
        entries: list[Any] = []
        for page in range(1, _MAX_PAGES + 1):
            data = await self.get(path, per_page=str(_PAGE), page=str(page), **params)
            found = data if key is None else data[key]
            entries += found
            if len(found) < _PAGE:
                return entries
        raise GitHubError(f"GET {path}: more than {_MAX_PAGES * _PAGE} entries")

    async def query(self, document: str, variables: Mapping[str, Any]) -> Any:
        """The ``data`` of a GraphQL query that only reads."""
        body = {"query": document, "variables": variables}
        return _graphql_data((await repeated_read(self.pace, lambda: self._send("POST", "/graphql", body))).data)

    def provided(self, condition: Callable[[], Awaitable[None]]) -> Self:
        """The same client, but every write asks ``condition`` when its turn has come; what that raises keeps it from happening."""
        return replace(self, condition=condition)

    async def write(self, method: str, path: str, json: object = None) -> Any:
        """A write, in its turn. It is never repeated here: whoever tries again looks first at what is there by then.

        Raises TransientError after a broken line once GitHub is surely done with it: the write may have happened.
        """
        async with self.turn.taken():
            if self.condition is not None:
                await self.condition()
            try:
                return (await self._send(method, path, json)).data
            except TransientError:
                await asyncio.sleep(self.pace.settle)
                raise

    async def mutate(self, document: str, variables: Mapping[str, Any]) -> Any:
        """The ``data`` of a GraphQL mutation; a write like any other. Raises RefusedError where GitHub did not do all of it."""
        answer = await self.write("POST", "/graphql", {"query": document, "variables": variables})
        data = _graphql_data(answer)
        if answer.get("errors"):
            raise RefusedError(f"GraphQL: {answer['errors'][0].get('message')}")
        return data

    @asynccontextmanager
    async def stream(self, path: str) -> AsyncIterator[aiohttp.ClientResponse]:
        """The response to a GET, its body unread."""
        token = await self._token()
        async with self.transport.open("GET", self.transport.api_url + self._full(path), token) as response:
            yield response

    async def _send(self, method: str, path: str, json: object = None, params: Mapping[str, str] | None = None) -> Answer:
        self.turn.require_awake()
        token = await self._token()
        try:
            return _within_limits(await self.transport.send(method, self._full(path), token, json, params))
        except UnauthorizedError:
            self.tokens.forget(self.installation, self.repository, self.permissions)
            fresh = await self._token()
            try:
                return _within_limits(await self.transport.send(method, self._full(path), fresh, json, params))
            except UnauthorizedError as error:  # a token that was just made is known everywhere a moment later
                raise TransientError(str(error), error.status) from error
        except RateLimitedError as error:
            await self.turn.rest(error.seconds)
            raise

    async def _token(self) -> str:
        return await self.tokens.token(self.installation, self.repository, self.permissions)

    def _full(self, path: str) -> str:
        return path.replace("{repo}", f"/repos/{self.full_name}", 1)


def _within_limits(answer: Answer) -> Answer:
    """``answer``, unless it is GraphQL's refusal for its rate: that comes as a success, and its headers say until when."""
    errors = (answer.data.get("errors") or []) if isinstance(answer.data, dict) else []
    if any(isinstance(error, dict) and error.get("type") == "RATE_LIMITED" for error in errors):
        wait = seconds_to_wait(HTTPStatus.TOO_MANY_REQUESTS, answer.headers, "", time.time())
        raise RateLimitedError("GraphQL: rate limited", wait or 0.0)
    return answer


def _graphql_data(answer: Any) -> Any:
    errors = answer.get("errors") or []
    if answer.get("data") is None:
        raise GitHubError(f"GraphQL: {errors[0].get('message') if errors else 'no data'}")
    return answer["data"]
