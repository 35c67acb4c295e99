"""A paused pull request is left alone until somebody asks for a look."""

from __future__ import annotations

import pytest

from simulator import Repository, Simulator
from tests.bot.server.conftest import reviewed
from tests.bot.server.test_commands import opened, replies
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]


async def test_paused_looked_at_once_and_resumed(github: Simulator, repository: Repository) -> None:
    pull = await opened(repository)
    pull.comment("ada", "/preflight pause")
    await until(lambda: replies(github, pull))
    pull.push({"train.py": BUGGY})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert (run.conclusion, run.title) == ("skipped", "Paused")
    assert pull.reviews == ()
    pull.comment("ada", "/preflight check")
    await until(lambda: len(pull.reviews) == 1)
    await until(lambda: len(repository.check_runs(pull.head_sha)) == 2)
    pull.push({"train.py": BUGGY + "more = BUG\n"})
    await reviewed(repository, pull)
    assert [run.title for run in repository.check_runs(pull.head_sha)] == ["Paused"]
    pull.comment("ada", "/preflight resume")
    await until(lambda: len(pull.reviews) == 2)
    pull.push({"train.py": BUGGY + "more = BUG\nagain = BUG\n"})
    await reviewed(repository, pull)
    assert len(pull.reviews) == 3


async def test_nobody_pauses_with_a_copied_answer(github: Simulator, repository: Repository) -> None:
    pull = await opened(repository)
    pull.comment("ada", "/preflight pause")
    await until(lambda: replies(github, pull))
    pull.comment("ada", "/preflight resume")
    await until(lambda: len(replies(github, pull)) == 2)
    pull.comment("mallory", replies(github, pull)[0])
    pull.push({"train.py": BUGGY})
    await reviewed(repository, pull)
    assert len(pull.reviews) == 1
