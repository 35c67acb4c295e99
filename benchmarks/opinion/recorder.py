"""A pytest plugin that notes every request the bot sends to the simulator, a line of JSON each, in the file that PREFLIGHT_REQUESTS names."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from simulator.http.api_server import ApiServer

if TYPE_CHECKING:
    from aiohttp import web

_handle = ApiServer.handle


async def _noted(server: ApiServer, request: web.Request) -> web.StreamResponse:
    path = request.rel_url.raw_path_qs.removeprefix("/api/v3")
    headers = {name: request.headers.get(name, "") for name in ("Accept", "Content-Type", "X-GitHub-Api-Version")}
    line = {"method": request.method, "path": path, "headers": headers, "body": (await request.read()).decode()}
    with open(os.environ["PREFLIGHT_REQUESTS"], "a", encoding="utf-8") as file:  # noqa: ASYNC230, PTH123  # one short line; several processes append
        file.write(json.dumps(line) + "\n")
    return await _handle(server, request)


ApiServer.handle = _noted  # type: ignore[method-assign]  # that is what this plugin is for
