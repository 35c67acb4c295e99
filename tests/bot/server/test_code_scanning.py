"""SARIF goes to code scanning where the repository asks for it and the App may; elsewhere nobody hears of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from simulator import Refuse, Repository, Simulator
from simulator.simulator import EVENTS, LEAST_PERMISSIONS
from tests.bot.server.conftest import TRAIN, reviewed
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]

WANTED = {".preflight.toml": "sarif = true\n"}
GRANTED = {**LEAST_PERMISSIONS, "security_events": "write"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def github() -> AsyncIterator[Simulator]:
    async with Simulator.start(events=(*EVENTS, "push")) as simulator:
        yield simulator
        assert simulator.violations == []


def scanned(github: Simulator, owner: str, *, granted: bool) -> Repository:
    repository = github.create_repository(f"{owner}/train", {"train.py": TRAIN, **WANTED}, installed=False)
    github.install(owner, permissions=GRANTED if granted else LEAST_PERMISSIONS)
    return repository


async def test_a_pull_request_and_the_default_branch(github: Simulator) -> None:
    repository = scanned(github, "scanned", granted=True)
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    await until(lambda: repository.sarif_uploads)
    (upload,) = repository.sarif_uploads.values()
    assert (upload.commit_sha, upload.ref) == (pull.head_sha, f"refs/pull/{pull.number}/head")
    merged = pull.merge()
    await until(lambda: len(repository.sarif_uploads) == 2)
    upload = list(repository.sarif_uploads.values())[-1]
    assert (upload.commit_sha, upload.ref) == (merged, "refs/heads/main")
    permissions = [each.body["permissions"] for each in github.requests if isinstance(each.body, dict) and each.path.endswith("/access_tokens")]
    assert {"metadata": "read", "security_events": "write"} in permissions


async def test_silent_where_it_is_not_granted_or_not_wanted(github: Simulator) -> None:
    ungranted = scanned(github, "ungranted", granted=False)
    unwanted = github.create_repository("scanned/other", {"train.py": TRAIN})
    for repository in (ungranted, unwanted):
        pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
        await reviewed(repository, pull)
        repository.commit("main", {"notes.txt": "x\n"})
    await github.deliveries_settled()
    assert (ungranted.sarif_uploads, unwanted.sarif_uploads) == ({}, {})


async def test_silent_where_code_scanning_is_off(github: Simulator) -> None:
    repository = scanned(github, "private", granted=True)
    before = github.counts["code-scanning/upload-sarif"]
    github.fail_next("POST", r"/code-scanning/sarifs$", Refuse(403, "Code Security must be enabled for this repository"))
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    await until(lambda: any("/code-scanning/sarifs" in each.path for each in github.requests if repository.full_name in each.path))
    (run,) = repository.check_runs(pull.head_sha)
    assert (run.conclusion, repository.sarif_uploads) == ("neutral", {})
    assert github.counts["code-scanning/upload-sarif"] - before <= 1
