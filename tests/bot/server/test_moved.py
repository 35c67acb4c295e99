"""Repositories that are renamed, and branches and histories that go away, while the bot is at work."""

from __future__ import annotations

import pytest

from simulator import Repository, Simulator
from simulator.branches import branch_moved, write_files
from tests.bot.server.conftest import TRAIN, reviewed
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]


async def test_renamed_before_the_delivery_is_worked_on(github: Simulator, repository: Repository) -> None:
    github.webhooks.hold()
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    github.rename(repository, f"{repository.name}-renamed")
    github.webhooks.release()
    await reviewed(repository, pull)
    assert (len(pull.reviews), len(pull.comments)) == (1, 1)


async def test_renamed_in_the_middle(github: Simulator, repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY + "# SLEEP 2\n"})
    await until(lambda: repository.check_runs(pull.head_sha))
    github.rename(repository, f"{repository.name}-renamed")
    await reviewed(repository, pull)
    assert (len(repository.check_runs(pull.head_sha)), len(pull.reviews), len(pull.comments)) == (1, 1, 1)
    pull.comment(repository.owner.login, "/preflight help")
    await until(lambda: len(pull.comments) == 3)


async def test_a_history_without_a_common_commit(repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    orphan = write_files(repository, "faster", {"train.py": BUGGY + "x = 1\n"}, "Begin anew", repository.owner, parent=None)
    branch_moved(repository, "faster", pull.head_sha, orphan, repository.owner)
    await reviewed(repository, pull)
    (run,) = repository.check_runs(orphan)
    assert (run.conclusion, run.title) == ("neutral", "Preflight could not finish")
    assert "have no commit in common" in (run.summary or "")


async def test_the_branch_is_deleted_in_the_middle(repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY + "# SLEEP 2\n"})
    await until(lambda: repository.check_runs(pull.head_sha))
    pull.close()
    repository.git.delete_reference("refs/heads/faster")
    await until(lambda: repository.check_runs(pull.head_sha)[0].status == "completed")
    assert repository.check_runs(pull.head_sha)[0].conclusion == "cancelled"


async def test_the_installation_is_gone_in_the_middle(github: Simulator) -> None:
    repository = github.create_repository("goner/train", {"train.py": TRAIN})
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY + "# SLEEP 2\n"})
    await until(lambda: repository.check_runs(pull.head_sha))
    installation = github.platform.installation_of(repository)
    assert installation is not None
    github.uninstall(installation)
    other = github.create_repository("stayer/train", {"train.py": TRAIN})
    still = other.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(other, still)
    assert (pull.reviews, pull.comments) == ((), ())
