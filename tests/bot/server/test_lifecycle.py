"""A bot that is stopped, killed or short of time still ends every check, and posts nothing twice."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from dbos import DBOS

from bot.settings import WorkerLimits
from simulator import BadGateway, Delay, Repository, Simulator
from simulator.ports import free_port
from tests.bot.server.conftest import HURRIED, reviewed, serving, settings_for
from tests.bot.server.processes import ROOT, command, environment, listening, process
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.server.test_replaced import SLOW, settled
from tests.bot.waiting import until


@pytest.fixture
async def github() -> Simulator:
    async with Simulator.start() as simulator:
        yield simulator
        assert simulator.violations == []


async def test_a_worker_that_takes_too_long_is_stopped(github: Simulator, repository: Repository, tmp_path: Path) -> None:
    async with serving(settings_for(github, tmp_path, limits=WorkerLimits(seconds=1))) as address:
        github.webhook_url = f"{address}/webhook"
        pull = repository.open_pull_request("slow", title="Slow", files={"train.py": "# SLEEP 60\n"})
        await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert "longer than 1 seconds" in (run.summary or "")


async def test_a_replaced_check_is_withdrawn_even_where_github_is_down_for_a_while(github: Simulator, repository: Repository, tmp_path: Path) -> None:
    async with serving(settings_for(github, tmp_path)) as address:
        github.webhook_url = f"{address}/webhook"
        pull = repository.open_pull_request("slow", title="Slow", files={"train.py": "# SLEEP 60\n"})
        slow = pull.head_sha
        await until(lambda: repository.check_runs(slow))
        github.fail_next("GET", rf"/commits/{slow}/check-runs$", BadGateway(), times=20)
        pull.push({"train.py": BUGGY})
        await reviewed(repository, pull)
        await until(lambda: repository.check_runs(slow)[0].conclusion == "cancelled")
    assert github.faults.waiting == 0


@pytest.mark.parametrize(
    ("moment", "delayed"),
    [
        ("analysing", None),
        ("reviewing", ("POST", r"/reviews$")),
        ("commenting", ("POST", r"/issues/\d+/comments$")),
    ],
)
async def test_killed_and_started_again(github: Simulator, repository: Repository, tmp_path: Path, moment: str, delayed: tuple[str, str] | None) -> None:
    port = free_port()
    github.webhook_url = f"http://127.0.0.1:{port}/webhook"
    if delayed is not None:
        github.fail_next(*delayed, Delay(1.5))
    slow = "# SLEEP 2\n" if moment == "analysing" else ""
    with process(github, tmp_path, port) as running:
        await listening(port)
        pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY + slow})
        await until(lambda: _reached(github, repository, pull.head_sha, delayed))
        await asyncio.sleep(0.4)
        running.send_signal(signal.SIGKILL)
        running.wait()
    (run,) = repository.check_runs(pull.head_sha)
    assert run.status == ("in_progress" if moment == "analysing" else "completed")  # the check comes before review and comment
    with process(github, tmp_path, port):
        await listening(port)
        await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert run.title == "1 finding introduced, memory of 1 entry point changes"
    assert (len(pull.reviews), len(pull.review_comments), len(pull.comments)) == (1, 1, 1)


async def test_a_job_that_resumes_after_it_was_replaced_begins_no_check(github: Simulator, repository: Repository, tmp_path: Path) -> None:
    """Its next step waits for what the dead process was writing; by then a newer push has come and looked for checks to end."""
    github.fail_next("GET", r"/commits/\w+/check-runs$", Delay(2.0))
    async with serving(settings_for(github, tmp_path)) as address:
        github.webhook_url = f"{address}/webhook"
        pull = repository.open_pull_request("slow", title="Slow", files=SLOW)
        old = pull.head_sha
        await until(lambda: not github.faults.waiting)  # it has looked, and is about to begin its check
    github.webhook_url = f"http://127.0.0.1:{free_port()}/webhook"
    pull.push({"train.py": BUGGY})
    await github.deliveries_settled()
    async with serving(settings_for(github, tmp_path, pace=replace(HURRIED, settle=1.0))) as address:
        github.webhook_url = f"{address}/webhook"
        await until(_is_running)
        github.webhooks.redeliver(next(each for each in github.webhooks.deliveries if each.event.action == "synchronize"))
        await settled(repository, pull, old)


async def test_stopped_in_the_middle_and_started_again(github: Simulator, repository: Repository, tmp_path: Path) -> None:
    port = free_port()
    github.webhook_url = f"http://127.0.0.1:{port}/webhook"
    with process(github, tmp_path, port) as running:
        await listening(port)
        pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY + "# SLEEP 3\n"})
        await until(lambda: repository.check_runs(pull.head_sha))
        await asyncio.sleep(0.4)
        running.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(running.wait, 30) == 0
    assert repository.check_runs(pull.head_sha)[0].status == "in_progress"
    with process(github, tmp_path, port):
        await listening(port)
        await reviewed(repository, pull)
    assert (len(repository.check_runs(pull.head_sha)), len(pull.reviews), len(pull.comments)) == (1, 1, 1)


async def test_the_real_server_reviews_real_code(github: Simulator, tmp_path: Path) -> None:
    before, after = (_training_code(clears) for clears in (True, False))
    repository = github.create_repository("octo/real", {"train.py": before})
    port = free_port()
    github.webhook_url = f"http://127.0.0.1:{port}/webhook"
    with process(github, tmp_path, port, "bot.cli", "serve"):
        await listening(port)
        pull = repository.open_pull_request("faster", title="Faster", files={"train.py": after})
        await until(lambda: any(run.status == "completed" for run in repository.check_runs(pull.head_sha)), 60)
        await until(lambda: pull.review_comments)
    (suggested,) = pull.review_comments
    assert suggested.body.startswith("`missing-zero-grad` (error)")
    pull.apply_suggestion(suggested.id)
    assert repository.read("faster", "train.py").count("optimizer.zero_grad()") == 1


async def test_a_second_process_on_the_same_file_refuses_to_start(github: Simulator, tmp_path: Path) -> None:
    port = free_port()
    with process(github, tmp_path, port):
        await listening(port)
        second = await asyncio.to_thread(
            subprocess.run, command(), env=environment(github, tmp_path, free_port()), cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )
    assert second.returncode != 0
    assert "in use by another process" in second.stderr


async def _is_running() -> bool:
    return bool(await DBOS.list_workflows_async(name="job", status="PENDING"))


def _reached(github: Simulator, repository: Repository, head: str, delayed: tuple[str, str] | None) -> bool:
    """Whether the moment has come: the check is in progress, or the delayed request is under way."""
    if delayed is None:
        return bool(repository.check_runs(head))
    return github.faults.waiting == 0


def _training_code(clears: bool) -> str:  # noqa: FBT001
    lines = [
        "import torch",
        "from torch import nn",
        "",
        "model = nn.Linear(8, 2)",
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
        "for step in range(100):",
        *(["    optimizer.zero_grad()"] if clears else []),
        "    loss = model(torch.randn(4, 8)).pow(2).mean()",
        "    loss.backward()",
        "    optimizer.step()",
    ]
    return "\n".join(lines) + "\n"
