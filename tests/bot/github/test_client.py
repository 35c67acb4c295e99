"""Tokens are scoped and renewed, limits are waited out, and nothing is sent to strangers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from bot.github.app import App
from bot.github.app_auth import PERMISSIONS
from bot.github.client import _within_limits
from bot.github.errors import GitHubError, NotFoundError, RateLimitedError, RefusedError, TransientError, UntrustedHostError
from bot.github.rate_limit import seconds_to_wait
from bot.github.transport import Answer, Transport
from bot.metrics import Metrics
from simulator import BadGateway, Drop, Exhausted, RateLimited, Refuse, Simulator
from tests.bot.github.conftest import client_for

NOW = 1_000.0


async def test_one_token_for_one_repository_with_the_least_permissions(github: Simulator, app: App) -> None:
    repository = github.create_repository("octo/train", {"a.py": ""})
    client = client_for(github, app, repository)
    await client.get("{repo}")
    await client.get("{repo}")
    assert github.counts["apps/create-installation-access-token"] == 1
    (asked,) = [request for request in github.requests if request.path.endswith("/access_tokens")]
    assert asked.body == {"repository_ids": [repository.id], "permissions": dict(PERMISSIONS)}


async def test_a_token_that_ended_is_renewed(github: Simulator, app: App) -> None:
    client = client_for(github, app, github.create_repository("octo/train", {"a.py": ""}))
    await client.get("{repo}")
    github.fail_next("GET", r"/repos/", Refuse(401))
    await client.get("{repo}")
    assert github.counts["apps/create-installation-access-token"] == 2


@pytest.mark.parametrize("fault", [BadGateway(), Drop(), RateLimited(403, retry_after=1), RateLimited(429, retry_after=1), Exhausted(reset_in=1)])
async def test_a_read_is_repeated(github: Simulator, app: App, fault: object) -> None:
    client = client_for(github, app, github.create_repository("octo/train", {"a.py": ""}))
    github.fail_next("GET", r"/repos/", fault)  # type: ignore[arg-type]  # one of the simulator's faults
    assert (await client.get("{repo}"))["full_name"] == "octo/train"


async def test_a_write_is_not_repeated_after_a_broken_line(github: Simulator, app: App) -> None:
    repository = github.create_repository("octo/train", {"a.py": ""})
    pull = repository.open_pull_request("b", files={"a.py": "x = 1\n"})
    client = client_for(github, app, repository)
    github.fail_next("POST", "/comments$", BadGateway(after_write=True))
    with pytest.raises(TransientError):
        await client.write("POST", f"{{repo}}/issues/{pull.number}/comments", {"body": "once"})
    assert len(pull.comments) == 1


@pytest.mark.parametrize(("status", "kind"), [(404, NotFoundError), (403, RefusedError), (422, RefusedError), (400, GitHubError)])
async def test_refusals_are_told_apart(github: Simulator, app: App, status: int, kind: type[GitHubError]) -> None:
    client = client_for(github, app, github.create_repository("octo/train", {"a.py": ""}))
    github.fail_next("GET", r"/repos/", Refuse(status))
    with pytest.raises(GitHubError) as raised:
        await client.get("{repo}")
    assert type(raised.value) is kind


async def test_a_long_limit_is_not_waited_out_in_place(github: Simulator, app: App) -> None:
    client = client_for(github, app, github.create_repository("octo/train", {"a.py": ""}))
    github.fail_next("GET", r"/repos/", RateLimited(403, retry_after=120))
    with pytest.raises(RateLimitedError) as raised:
        await client.get("{repo}")
    assert raised.value.seconds == 120


@pytest.mark.parametrize(
    ("status", "headers", "body", "seconds"),
    [
        (403, {"Retry-After": "30"}, "", 30.0),
        (429, {}, "", 60.0),
        (403, {}, "You have exceeded a secondary rate limit", 60.0),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(NOW + 90)}, "", 90.0),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(NOW - 5)}, "", 1.0),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(NOW + 1e9)}, "", 3_700.0),
        (429, {"Retry-After": "soon"}, "", 60.0),
        (429, {"Retry-After": "nan"}, "", 60.0),
        (403, {"X-RateLimit-Remaining": "17"}, "Resource not accessible by integration", None),
        (404, {"Retry-After": "30"}, "", None),
    ],
)
def test_how_long_to_wait(status: int, headers: dict[str, str], body: str, seconds: float | None) -> None:
    assert seconds_to_wait(status, headers, body, NOW) == seconds


def test_graphql_says_in_its_headers_how_long_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.github.client.time.time", lambda: NOW)
    refusal = {"errors": [{"type": "RATE_LIMITED"}]}
    with pytest.raises(RateLimitedError) as raised:
        _within_limits(Answer(refusal, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(NOW + 1_800)}))
    assert raised.value.seconds == 1_800.0


async def test_a_redirect_to_a_stranger_is_not_followed() -> None:
    asked: list[web.Request] = []

    async def elsewhere(request: web.Request) -> web.Response:
        asked.append(request)
        raise web.HTTPFound("http://127.0.0.1:1/steal")

    async with served("/{path:.*}", elsewhere) as address, Transport(address, f"{address}/graphql", 5.0, Metrics()) as transport:
        with pytest.raises(UntrustedHostError):
            await transport.send("GET", "/repos/octo/train/tarball/main", "token")
        with pytest.raises(UntrustedHostError):
            async with transport.open("GET", "http://169.254.169.254/latest", "token"):
                pass
    assert len(asked) == 1


async def test_a_redirect_to_the_archives_host_goes_without_the_token() -> None:
    seen: dict[str, str | None] = {}

    async def lead_on(request: web.Request) -> web.Response:
        seen[request.path] = request.headers.get("Authorization")
        raise web.HTTPFound({"/first": "/second", "/second": f"{archives}/archive"}[request.path])

    async def archive(request: web.Request) -> web.Response:
        seen[request.path] = request.headers.get("Authorization")
        return web.json_response({})

    async with (
        served("/archive", archive) as archives,
        served("/{path:.*}", lead_on) as address,
        Transport(address, f"{address}/graphql", 5.0, Metrics()) as transport,
    ):
        transport._hosts |= {archives.removeprefix("http://")}
        await transport.send("GET", "/first", "token")
    assert seen == {"/first": "Bearer token", "/second": "Bearer token", "/archive": None}


@asynccontextmanager
async def served(path: str, handler: Callable[[web.Request], Awaitable[web.Response]]) -> AsyncIterator[str]:
    application = web.Application()
    application.router.add_get(path, handler)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@pytest.mark.parametrize("target", ["http://127.0.0.1:1/repositories/7/issues", "/somewhere/else", ""])
async def test_a_write_follows_a_repository_and_nothing_else(target: str) -> None:
    asked: list[str] = []

    async def elsewhere(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.json_response({}) if request.path.startswith("/repositories/") else web.Response(status=307, headers={"Location": target})

    application = web.Application()
    application.router.add_post("/{path:.*}", elsewhere)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with Transport(address, f"{address}/graphql", 5.0, Metrics()) as transport:
        with pytest.raises(GitHubError):
            await transport.send("POST", "/repos/octo/train/issues", "token", {})
    await runner.cleanup()
    assert asked == ["/repos/octo/train/issues"]
