"""Commands about findings: explained, silenced by a suggestion, fixed by a commit or, where that is not granted, by a patch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from simulator import PullRequest, Repository, Simulator, StaleHead
from simulator.simulator import LEAST_PERMISSIONS
from tests.bot.server.conftest import TRAIN, reviewed
from tests.bot.server.test_commands import replies
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]


async def opened(repository: Repository, head: str = "faster") -> PullRequest:
    repository.grant("ada", "write")
    pull = repository.open_pull_request(head, title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    return pull


async def asked(github: Simulator, pull: PullRequest, command: str) -> str:
    """The reply to ``command``."""
    before = len(replies(github, pull))
    pull.comment("ada", command)
    await until(lambda: len(replies(github, pull)) > before)
    return replies(github, pull)[-1]


def apply(patch: str, folder: Path) -> None:
    subprocess.run(["git", "apply", "-"], cwd=folder, input=patch, text=True, check=True)


def writable(github: Simulator, owner: str) -> Repository:
    repository = github.create_repository(f"{owner}/train", {"train.py": TRAIN}, installed=False)
    github.install(owner, permissions={**LEAST_PERMISSIONS, "contents": "write"})
    return repository


async def test_explain_shows_the_page(github: Simulator, repository: Repository) -> None:
    pull = await opened(repository)
    page = await asked(github, pull, "/preflight explain missing-zero-grad")
    assert "### `missing-zero-grad`" in page
    assert "```python" in page


async def test_an_unknown_rule_gets_the_nearest_one(github: Simulator, repository: Repository) -> None:
    pull = await opened(repository)
    assert "missing\\-zero\\-grad" in await asked(github, pull, "/preflight explain missing-zero-grat")
    assert "Name a rule" in await asked(github, pull, "/preflight ignore")


async def test_ignore_without_such_a_finding(github: Simulator, repository: Repository) -> None:
    pull = await opened(repository)
    assert "nothing to silence" in await asked(github, pull, "/preflight ignore missing-zero-grad it is meant")


async def test_fix_commits_where_it_may_write(github: Simulator) -> None:
    repository = writable(github, "writer")
    pull = await opened(repository)
    before = pull.head_sha
    reply = await asked(github, pull, "/preflight fix")
    assert "Fixed 1 finding in 1 file" in reply
    assert pull.head_sha != before
    assert pull.head_sha in reply
    assert repository.read("faster", "train.py") == BUGGY.replace("BUG", "fixed")
    asked_for = [each.body for each in github.requests if each.path.endswith("/access_tokens") and isinstance(each.body, dict)]
    assert [body["permissions"] for body in asked_for if body["permissions"].get("contents") == "write"] == [{"metadata": "read", "contents": "write"}]
    await reviewed(repository, pull)  # the commit is a push like any other


async def test_fix_never_writes_over_a_newer_push(github: Simulator) -> None:
    repository = writable(github, "racer")
    pull = await opened(repository)
    pull.push({"train.py": BUGGY + "newer = 1\n"})
    await reviewed(repository, pull)
    before = pull.head_sha
    github.fail_next("GET", r"/pulls/\d+$", StaleHead())
    assert "the branch has moved" in await asked(github, pull, "/preflight fix")
    assert pull.head_sha == before


async def test_fix_answers_with_a_patch_where_it_may_not_write(github: Simulator, repository: Repository, tmp_path: Path) -> None:
    pull = await opened(repository)
    before = pull.head_sha
    reply = await asked(github, pull, "/preflight fix")
    assert "may not write" in reply
    assert pull.head_sha == before
    patch = reply.partition("```diff\n")[2].partition("```")[0]
    (tmp_path / "train.py").write_text(BUGGY)
    apply(patch, tmp_path)
    assert (tmp_path / "train.py").read_text() == BUGGY.replace("BUG", "fixed")


async def test_fix_on_a_fork_answers_with_a_patch_too(github: Simulator) -> None:
    repository = writable(github, "forked")
    repository.fork("stranger")
    pull = await opened(repository, "stranger:faster")
    assert "belongs to a fork" in await asked(github, pull, "/preflight fix")
