"""The App as a test drives it: signs its JWT, gets tokens, sends requests; and a place where webhooks arrive."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import jwt
from aiohttp import web

from simulator import Simulator
from simulator.http.sockets import Listener

REPOSITORY = "/repos/octo/train"


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Any
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


@dataclass(slots=True)
class AppClient:
    github: Simulator
    session: aiohttp.ClientSession
    token: str = ""

    def jwt(self, key: str | None = None, **changed: Any) -> str:
        now = int(self.github.clock.now().timestamp())
        claims = {"iat": now - 60, "exp": now + 540, "iss": str(self.github.app_id), **changed}
        return jwt.encode({name: value for name, value in claims.items() if value is not None}, key or self.github.private_key, "RS256")

    async def send(self, method: str, path: str, body: object = None, *, token: str | None = None, **headers: str) -> Reply:
        url = path if path.startswith("http") else self.github.api_url + path
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        authorization = {} if token == "" else {"Authorization": f"Bearer {self.token if token is None else token}"}
        async with self.session.request(method, url, json=body, headers={**authorization, **given}, allow_redirects=False) as response:
            return Reply(response.status, response.headers, await response.read())

    async def get(self, path: str, **headers: str) -> Reply:
        return await self.send("GET", path, **headers)

    async def post(self, path: str, body: object = None, **headers: str) -> Reply:
        return await self.send("POST", path, body, **headers)

    async def patch(self, path: str, body: object) -> Reply:
        return await self.send("PATCH", path, body)

    async def graphql(self, query: str, **variables: object) -> Any:
        return (await self.post("/graphql", {"query": query, "variables": variables})).json

    async def new_token(self, body: object = None, owner: str = "octo", **headers: str) -> Reply:
        account = self.github.platform.account(owner)
        installation = next(one for one in self.github.platform.installations.values() if one.account == account)
        return await self.send("POST", f"/app/installations/{installation.id}/access_tokens", body, token=self.jwt(), **headers)


@dataclass(slots=True)
class Hook:
    """Keeps what was delivered; answers with `status`."""

    status: int = 202
    seen: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    headers: list[Any] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    async def serve(self) -> Listener:
        application = web.Application()
        application.router.add_post("/webhook", self._take)
        return await Listener.open(application)

    async def _take(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.bodies.append(body)
        self.headers.append(request.headers)
        self.seen.append((request.headers["X-GitHub-Event"], json.loads(body)))
        return web.Response(status=self.status)

    @property
    def names(self) -> list[str]:
        return [f"{event}.{payload['action']}" if "action" in payload else event for event, payload in self.seen]
