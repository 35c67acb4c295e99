"""The commands that change code, with the analysis itself behind them."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from simulator import PullRequest, Repository, Simulator
from simulator.simulator import EVENTS, LEAST_PERMISSIONS
from tests.bot.server.conftest import at_rest, serving, settings_for
from tests.bot.server.test_commands import replies
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("real_bot")]

CLEARED = """\
import torch
from torch import nn

model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 8)).pow(2).mean()
    loss.backward()
    optimizer.step()
"""
FORGOTTEN = CLEARED.replace("    optimizer.zero_grad()\n", "")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def github() -> AsyncIterator[Simulator]:
    async with Simulator.start(events=(*EVENTS, "push")) as simulator:
        yield simulator
        assert simulator.violations == []


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real_bot(github: Simulator, state: Path) -> AsyncIterator[str]:
    settings = settings_for(github, state)
    async with serving(replace(settings, worker_command=(sys.executable, "-I", "-m", "bot.worker.child"))) as address:
        github.webhook_url = f"{address}/webhook"
        yield address


async def opened(github: Simulator, owner: str) -> tuple[Repository, PullRequest]:
    repository = github.create_repository(f"{owner}/real", {"train.py": CLEARED}, installed=False)
    github.install(owner, permissions={**LEAST_PERMISSIONS, "contents": "write"})
    pull = repository.open_pull_request("faster", title="Faster", author=owner, files={"train.py": FORGOTTEN})
    await until(lambda: any(run.status == "completed" for run in repository.check_runs(pull.head_sha)), 60)
    await at_rest(repository)
    return repository, pull


async def test_ignore_suggests_the_comment_that_silences_it(github: Simulator) -> None:
    repository, pull = await opened(github, "ignorer")
    (first,) = pull.review_comments
    pull.comment("ignorer", "/preflight ignore missing-zero-grad one step is all there is")
    await until(lambda: replies(github, pull), 60)
    assert "1 suggestion made" in replies(github, pull)[0]
    (suggested,) = [each for each in pull.review_comments if each.id != first.id]
    assert "# preflight: ignore[missing-zero-grad] one step is all there is" in suggested.body
    pull.apply_suggestion(suggested.id)
    await until(lambda: any(run.status == "completed" for run in repository.check_runs(pull.head_sha)), 60)
    (run,) = repository.check_runs(pull.head_sha)
    assert run.conclusion == "success"


async def test_a_notebook_is_named_by_its_cell(github: Simulator) -> None:
    def notebook(code: str) -> str:
        cells = [{"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}, "outputs": [], "source": code.splitlines(keepends=True)}]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)

    repository = github.create_repository("octo/notebook", {"train.ipynb": notebook(CLEARED)})
    pull = repository.open_pull_request("faster", title="Faster", files={"train.ipynb": notebook(FORGOTTEN)})
    await until(lambda: any(run.status == "completed" for run in repository.check_runs(pull.head_sha)), 60)
    await at_rest(repository)
    (run,) = repository.check_runs(pull.head_sha)
    (annotation,) = run.annotations
    assert "| error | `train.ipynb:cell 1:8` | `missing-zero-grad`" in (run.summary or "")
    assert (annotation.path, annotation.message.partition(":")[0]) == ("train.ipynb", "Cell 1, line 8")
    assert pull.review_comments == ()  # a line of the file is a line of JSON


async def test_a_push_estimates_what_the_next_pull_request_starts_from(github: Simulator, state: Path) -> None:
    repository, _ = await opened(github, "pusher")

    def kept() -> list[str]:
        """What was seen of train.py, by hash, whenever something was estimated of it."""
        (path,) = state.glob(f"cache/*/kept/{repository.id}-*.json")
        return [each["files"]["train.py"] for each in json.loads(path.read_text())["seen"]]

    before = kept()
    repository.commit("main", {"train.py": CLEARED.replace("100", "200")}, "Train longer")
    await until(lambda: len(kept()) > len(before))
    assert kept()[-1] == hashlib.sha256(CLEARED.replace("100", "200").encode()).hexdigest()
    await at_rest(repository)


async def test_fix_commits_the_patch(github: Simulator) -> None:
    repository, pull = await opened(github, "fixer")
    pull.comment("fixer", "/preflight fix missing-zero-grad")
    await until(lambda: replies(github, pull), 60)
    assert "Fixed 1 finding in 1 file" in replies(github, pull)[0]
    assert repository.read("faster", "train.py").count("optimizer.zero_grad()") == 1
    await until(lambda: any(run.conclusion == "success" for run in repository.check_runs(pull.head_sha)), 60)
    await until(lambda: pull.review_comments == ())  # the thread of what is fixed is gone
