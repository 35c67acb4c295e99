"""The API on a socket: faults, ETags and the record of every request around the service."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import TYPE_CHECKING

from aiohttp import web

from simulator.http.exchange import Answer
from simulator.http.faults import BadGateway, Delay, Drop, Exhausted, Fault, Faults, RateLimited, Refuse, StaleHead
from simulator.http.records import RequestRecord
from simulator.http.service import ApiRequest

if TYPE_CHECKING:
    from simulator.http.service import Service

ARCHIVE_PREFIX = "/_codeload"
ENTERPRISE_PREFIX = "/api/v3"
ENTERPRISE_GRAPHQL = "/api/graphql"
MAX_BODY_BYTES = 32 * 1024 * 1024
_SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub "
    "Support for help, please include the request ID."
)


class ApiServer:
    """The request handler of the API host."""

    def __init__(self, service: Service, faults: Faults) -> None:
        self._service = service
        self._faults = faults

    def application(self, archives: web.Application) -> web.Application:
        """The aiohttp application to serve, with the archives below it."""
        application = web.Application(client_max_size=MAX_BODY_BYTES)
        application.add_subapp(ARCHIVE_PREFIX, archives)
        application.router.add_route("*", "/{path:.*}", self.handle)
        return application

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        path = _own_path(request.rel_url.raw_path)
        asked = ApiRequest(request.method, path, dict(request.query), request.headers, await request.read())
        fault = self._faults.take(request.method, path)
        answer = await self._answer(asked, fault)
        operation = self._service.operation_id(asked.method, path)
        records = self._service.records
        status = None if answer is None else answer.status
        records.requests.append(RequestRecord(operation, asked.method, path, status, _decoded(asked.body)))
        records.counts[operation or "unknown"] += 1
        if answer is None:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=499)
        return _respond(request, answer)

    async def _answer(self, asked: ApiRequest, fault: Fault | None) -> Answer | None:
        match fault:
            case RateLimited(status, retry_after):
                headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
                return _refusal(status, _SECONDARY, headers)
            case Exhausted(reset_in):
                reset = int(self._service.platform.clock.now().timestamp()) + reset_in
                headers = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)}
                return _refusal(403, "API rate limit exceeded for installation.", headers)
            case BadGateway(after_write=True, status=status):
                self._service.carry_out(asked)
                return _refusal(status, "Server Error", {})
            case BadGateway(status=status):
                return _refusal(status, "Server Error", {})
            case Drop(after_write):
                if after_write:
                    self._service.carry_out(asked)
                return None
            case Refuse(status, message):
                return _refusal(status, message, {})
            case Delay(seconds):
                await asyncio.sleep(seconds)
        return self._service.carry_out(asked, stale=isinstance(fault, StaleHead))


def _own_path(raw_path: str) -> str:
    """The path without the prefix that an Enterprise server has."""
    if raw_path == ENTERPRISE_GRAPHQL:
        return "/graphql"
    path = raw_path.removeprefix(ENTERPRISE_PREFIX) if raw_path.startswith(f"{ENTERPRISE_PREFIX}/") else raw_path
    return path or "/"


def _decoded(body: bytes) -> object:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body


def _refusal(status: int, message: str, headers: dict[str, str]) -> Answer:
    return Answer({"message": message, "documentation_url": "https://docs.github.com/rest"}, status, headers)


def _respond(request: web.Request, answer: Answer) -> web.Response:
    headers = {
        "X-GitHub-Request-Id": uuid.uuid4().hex.upper(),
        "X-GitHub-Api-Version-Selected": request.headers.get("X-GitHub-Api-Version", "2022-11-28"),
        **answer.headers,
    }
    if answer.body is None:
        return web.Response(status=answer.status, headers=headers)
    headers["Content-Type"] = answer.media_type
    return web.Response(body=answer.content, status=answer.status, headers=headers)
