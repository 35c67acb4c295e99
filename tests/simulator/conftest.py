"""A running simulator with one repository and one pull request, and the App's client for it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest

from simulator import PullRequest, Repository, Simulator
from tests.simulator.client import AppClient, Hook

OLD = "".join(f"line {number}\n" for number in range(1, 31))
NEW = OLD.replace("line 10\n", "line ten\n").replace("line 20\n", "line twenty\nline twenty and a half\n")
PERMISSIONS = {
    "metadata": "read",
    "contents": "write",
    "pull_requests": "write",
    "checks": "write",
    "security_events": "write",
    "statuses": "write",
}
EVENTS = ("pull_request", "issue_comment", "check_run", "check_suite", "push", "merge_group")


@pytest.fixture
async def github() -> AsyncIterator[Simulator]:
    async with Simulator.start(permissions=PERMISSIONS, events=EVENTS) as simulator:
        yield simulator


@pytest.fixture
async def hook(github: Simulator) -> AsyncIterator[Hook]:
    receiver = Hook()
    listener = await receiver.serve()
    github.webhook_url = f"{listener.url}/webhook"
    yield receiver
    await listener.close()


@pytest.fixture
def repository(github: Simulator) -> Repository:
    return github.create_repository("octo/train", {"train.py": OLD, "package/model.py": "class Model: ...\n"})


@pytest.fixture
def pull(repository: Repository) -> PullRequest:
    return repository.open_pull_request("faster", title="Train faster", author="mona", files={"train.py": NEW})


@pytest.fixture
async def app(github: Simulator, pull: PullRequest) -> AsyncIterator[AppClient]:
    async with aiohttp.ClientSession(headers={"User-Agent": "tests"}) as session:
        client = AppClient(github, session)
        client.token = (await client.new_token(owner=pull.repository.owner.login)).json["token"]
        yield client
