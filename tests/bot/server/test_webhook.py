"""Only GitHub's own deliveries are taken, and only once they are stored."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import uuid
from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio

from simulator import Refuse, Repository, Simulator
from tests.bot.server.conftest import reviewed
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(bot: str) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(bot) as session:
        yield session


def signed(github: Simulator, body: bytes, event: str = "ping", **changed: str) -> dict[str, str]:
    signature = hmac.new(github.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
    return {
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": str(uuid.uuid4()),
        "X-Hub-Signature-256": f"sha256={signature}",
        "Content-Type": "application/json",
    } | changed


async def status(client: aiohttp.ClientSession, body: bytes, headers: dict[str, str]) -> int:
    async with client.post("/webhook", data=body, headers=headers) as response:
        return response.status


async def test_a_genuine_delivery(github: Simulator, client: aiohttp.ClientSession) -> None:
    assert await status(client, b"{}", signed(github, b"{}")) == 202


@pytest.mark.parametrize("signature", ["", "sha256=", "sha256=" + "0" * 64, "sha1=" + "0" * 40, "sha256=é", "0" * 64])
async def test_a_bad_signature(github: Simulator, client: aiohttp.ClientSession, signature: str) -> None:
    headers = signed(github, b"{}") | {"X-Hub-Signature-256": signature}
    assert await status(client, b"{}", headers) == 401


async def test_the_older_signature_alone_is_refused(github: Simulator, client: aiohttp.ClientSession) -> None:
    headers = signed(github, b"{}")
    del headers["X-Hub-Signature-256"]
    headers["X-Hub-Signature"] = "sha1=" + hmac.new(github.webhook_secret.encode(), b"{}", hashlib.sha1).hexdigest()
    assert await status(client, b"{}", headers) == 401


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"action": 1}', b'{"action": "opened"}'])
async def test_a_malformed_body(github: Simulator, client: aiohttp.ClientSession, body: bytes) -> None:
    assert await status(client, body, signed(github, body, "pull_request")) == 400


async def test_a_delivery_without_guid_or_for_another_app(github: Simulator, client: aiohttp.ClientSession) -> None:
    assert await status(client, b"{}", signed(github, b"{}", **{"X-GitHub-Delivery": "../../x"})) == 400
    other = {"X-GitHub-Hook-Installation-Target-Type": "integration", "X-GitHub-Hook-Installation-Target-ID": "1"}
    assert await status(client, b"{}", signed(github, b"{}", **other)) == 400


async def test_an_unknown_event_is_no_error(github: Simulator, client: aiohttp.ClientSession) -> None:
    assert await status(client, b"{}", signed(github, b"{}", "star")) == 202


async def test_a_body_beyond_githubs_limit(github: Simulator, client: aiohttp.ClientSession) -> None:
    body = b"{" + b" " * (25 << 20) + b"}"
    assert await status(client, body, signed(github, body)) == 413


async def test_what_headers_tell_is_refused_before_the_body_is_read(github: Simulator, bot: str) -> None:
    """The body is announced and never sent: whoever waited for it would wait for ever."""
    host, _, port = bot.removeprefix("http://").partition(":")
    signature = signed(github, b"")["X-Hub-Signature-256"]
    for size, lines, status in ((25 << 20, "", 401), ((25 << 20) + 1, f"X-Hub-Signature-256: {signature}\r\n", 413)):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"POST /webhook HTTP/1.1\r\nHost: {host}\r\nContent-Length: {size}\r\n{lines}\r\n".encode())
        assert (await asyncio.wait_for(reader.readline(), 10)).split()[1] == str(status).encode()
        writer.close()


async def test_a_body_that_does_not_come(github: Simulator, bot: str) -> None:
    host, _, port = bot.removeprefix("http://").partition(":")
    signature = signed(github, b"")["X-Hub-Signature-256"]
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"POST /webhook HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\nX-Hub-Signature-256: {signature}\r\n\r\n".encode())
    assert (await asyncio.wait_for(reader.readline(), 30)).split()[1] == b"408"
    writer.close()


async def test_the_same_delivery_twice(github: Simulator, repository: Repository, client: aiohttp.ClientSession) -> None:
    github.webhooks.double_next("pull_request")
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (event,) = {each.event for each in github.webhooks.deliveries if each.event.name == "pull_request"}
    await until(lambda: idle(client))
    before = github.counts.copy()
    headers = signed(github, event.body, "pull_request", **{"X-GitHub-Delivery": event.guid})
    async with client.post("/webhook", data=event.body, headers=headers) as response:
        assert (response.status, await response.json()) == (202, {"message": "stored"})
    await until(lambda: idle(client))
    assert github.counts == before
    assert (len(repository.check_runs(pull.head_sha)), len(pull.reviews), len(pull.comments)) == (1, 1, 1)


async def test_a_failed_delivery_runs_again_when_redelivered(github: Simulator, repository: Repository, client: aiohttp.ClientSession) -> None:
    github.fail_next("GET", r"/pulls/\d+$", Refuse(403), times=2)  # for the step, and for the report of its failure
    pull = repository.open_pull_request("again", title="Again", files={"train.py": BUGGY})
    await github.deliveries_settled()
    await until(lambda: idle(client))
    assert repository.check_runs(pull.head_sha) == ()
    delivery = next(each for each in reversed(github.webhooks.deliveries) if each.event.name == "pull_request")
    github.webhooks.redeliver(delivery)
    await reviewed(repository, pull)
    assert len(pull.reviews) == 1


async def test_pages(repository: Repository, client: aiohttp.ClientSession) -> None:
    await reviewed(repository, repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY}))
    async with client.get("/healthz") as response:
        assert await response.json() == {"status": "alive"}
    async with client.get("/readyz") as response:
        assert (await response.json())["status"] == "ready"
    async with client.get("/") as response:
        assert "/apps/preflight-bot" in await response.text()
    async with client.get("/metrics") as response:
        text = await response.text()
    assert 'preflight_deliveries_total{event="pull_request",outcome="stored"}' in text
    assert 'preflight_step_seconds_bucket{kind="review",step="analyse",le="+Inf"}' in text
    assert 'preflight_findings_total{outcome="introduced",rule="marked-line"}' in text
    assert "\npreflight_answer_seconds_count " in text
    assert "\npreflight_queue_age_seconds " in text
    assert 'preflight_github_budget_remaining{resource="core"}' in text


async def idle(client: aiohttp.ClientSession) -> bool:
    async with client.get("/readyz") as response:
        return bool((await response.json())["active_jobs"] == 0)
