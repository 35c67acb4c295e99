"""Buttons, the merge queue, drafts, closed pull requests, and installations that come and go."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from simulator import Repository, Simulator
from simulator.checking import request_action, rerequest, rerequest_suite
from simulator.simulator import EVENTS, LEAST_PERMISSIONS
from simulator.webhooks.events import installation_event, installation_repositories_event
from tests.bot.server.conftest import TRAIN, at_rest, reviewed, serving, settings_for
from tests.bot.server.test_code_commands import writable
from tests.bot.server.test_commands import replies
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def github() -> AsyncIterator[Simulator]:
    async with Simulator.start(events=(*EVENTS, "merge_group")) as simulator:
        yield simulator
        assert simulator.violations == []


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bot(github: Simulator, state: Path) -> AsyncIterator[str]:
    async with serving(settings_for(github, state)) as address:
        github.webhook_url = f"{address}/webhook"
        yield address


def completed(repository: Repository, sha: str) -> int:
    return sum(run.status == "completed" for run in repository.check_runs(sha))


async def test_apply_safe_fixes(github: Simulator) -> None:
    repository = writable(github, "presser")
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert [action.label for action in run.actions] == ["Apply safe fixes", "Re-run Preflight"]
    request_action(repository, run, "fix", repository.owner)
    await until(lambda: replies(github, pull))
    assert "Fixed 1 finding in 1 file" in replies(github, pull)[0]
    assert repository.read("faster", "train.py") == BUGGY.replace("BUG", "fixed")
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert [action.label for action in run.actions] == ["Re-run Preflight"]


async def test_a_button_pressed_by_somebody_who_may_not_write_does_nothing(github: Simulator) -> None:
    repository = writable(github, "watched")
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    before = github.counts["repos/get-collaborator-permission-level"]
    request_action(repository, run, "fix", github.platform.account("mallory"))
    await until(lambda: github.counts["repos/get-collaborator-permission-level"] > before)
    request_action(repository, run, "rerun", repository.owner)
    await until(lambda: completed(repository, pull.head_sha) == 2)
    assert replies(github, pull) == []


async def test_all_checks_again_on_a_fork(repository: Repository) -> None:
    repository.fork("stranger")
    pull = repository.open_pull_request("stranger:faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    rerequest_suite(repository, run.suite_id, repository.owner)
    await until(lambda: completed(repository, pull.head_sha) == 2)
    assert (len(pull.reviews), len(pull.comments)) == (1, 1)


async def test_the_merge_queue_gets_its_check(github: Simulator, repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    said = (len(pull.reviews), len(pull.comments))
    sha = pull.enqueue()
    await until(lambda: completed(repository, sha) == 1)
    (run,) = repository.check_runs(sha)
    assert (run.name, run.conclusion) == ("Preflight", "neutral")
    assert "1 finding introduced" in (run.title or "")
    rerequest(repository, run, repository.owner)
    await until(lambda: completed(repository, sha) == 2)
    assert (len(pull.reviews), len(pull.comments)) == said
    docs = repository.open_pull_request("docs", title="Docs", files={"README.md": "Trains.\n\nWell.\n"})
    await reviewed(repository, docs)
    other = docs.enqueue()
    await until(lambda: completed(repository, other) == 1)
    assert repository.check_runs(other)[0].conclusion == "success"


async def test_a_group_that_leaves_the_queue_is_not_waited_for(repository: Repository) -> None:
    pull = repository.open_pull_request("slow", title="Slow", files={"train.py": BUGGY + "# SLEEP 60\n"})
    sha = pull.enqueue()
    await until(lambda: repository.check_runs(sha))
    pull.dequeue(sha)
    await until(lambda: completed(repository, sha) == 1)
    assert repository.check_runs(sha)[0].conclusion == "cancelled"
    pull.close()


async def test_closed_in_the_middle(repository: Repository) -> None:
    pull = repository.open_pull_request("slow", title="Slow", files={"train.py": BUGGY + "# SLEEP 60\n"})
    await until(lambda: repository.check_runs(pull.head_sha))
    pull.close()
    await until(lambda: completed(repository, pull.head_sha) == 1)
    assert repository.check_runs(pull.head_sha)[0].conclusion == "cancelled"
    assert (pull.reviews, pull.comments) == ((), ())


async def test_back_to_draft(repository: Repository) -> None:
    pull = repository.open_pull_request("slow", title="Slow", files={"train.py": BUGGY + "# SLEEP 60\n"})
    await until(lambda: repository.check_runs(pull.head_sha))
    pull.set_draft(draft=True)
    await until(lambda: completed(repository, pull.head_sha) == 2)
    assert {run.conclusion for run in repository.check_runs(pull.head_sha)} == {"cancelled", "skipped"}


async def test_merged_branches_and_deleted_ones(repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    pull.merge()
    repository.git.delete_reference("refs/heads/faster")
    later = repository.open_pull_request("later", title="Later", files={"train.py": BUGGY + "x = 1\n"})
    await reviewed(repository, later)
    assert later.reviews == ()


async def test_what_was_kept_goes_with_the_app(github: Simulator, state: Path) -> None:
    repository = github.create_repository("leaver/train", {"train.py": TRAIN})
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    installation = github.platform.installation_of(repository)
    assert installation is not None
    folder = state / "cache" / str(installation.id)
    assert folder.is_dir()
    assert await asyncio.to_thread(jobs_about, repository, state)
    installation_repositories_event(github.platform, installation, [], [repository], repository.owner)
    await until(lambda: not folder.exists())
    await until(lambda: not jobs_about(repository, state))


async def test_all_that_was_kept_of_an_account_goes_when_the_app_is_taken_off_it(github: Simulator, state: Path) -> None:
    repositories = [github.create_repository(f"goer/{name}", {"train.py": TRAIN}) for name in ("one", "two")]
    for repository in repositories:
        await reviewed(repository, repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY}))
    installation = github.platform.installation_of(repositories[0])
    assert installation is not None
    folder = state / "cache" / str(installation.id)
    assert folder.is_dir()
    assert all([await asyncio.to_thread(findings_of, repository, state) for repository in repositories])
    github.uninstall(installation)
    await until(lambda: not folder.exists())
    for repository in repositories:
        await until(lambda repository=repository: not jobs_about(repository, state))
        await until(lambda repository=repository: not findings_of(repository, state))


async def test_nothing_is_read_of_a_repository_that_has_just_got_the_app(github: Simulator) -> None:
    repository = github.create_repository("newcomer/train", {"train.py": TRAIN}, installed=False)
    old = repository.open_pull_request("old", title="Old", files={"train.py": BUGGY})
    before = github.counts.copy()
    github.install("newcomer", repositories=["train"])
    second = github.create_repository("newcomer/second", {"train.py": BUGGY}, installed=False)
    github.install("newcomer", repositories=["train", "second"])
    await github.deliveries_settled()
    assert [delivery.event.name for delivery in github.webhooks.deliveries[-2:]] == ["installation", "installation_repositories"]
    await at_rest(repository)
    assert github.counts == before
    assert (repository.check_runs(), second.check_runs(), old.comments) == ((), (), ())


async def test_permissions_granted_later_are_used_at_once(github: Simulator) -> None:
    repository = github.create_repository("grower/train", {"train.py": TRAIN})
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    pull.comment("grower", "/preflight fix")
    await until(lambda: replies(github, pull))
    assert "may not write" in replies(github, pull)[0]
    installation = github.install("grower", permissions={**LEAST_PERMISSIONS, "contents": "write"})
    installation_event(github.platform, installation, "new_permissions_accepted", [repository], repository.owner)
    pull.comment("grower", "/preflight fix")
    await until(lambda: len(replies(github, pull)) == 2)
    assert "Fixed 1 finding" in replies(github, pull)[1]


async def test_suspended_in_the_middle(github: Simulator) -> None:
    repository = github.create_repository("sleeper/train", {"train.py": TRAIN})
    installation = github.platform.installation_of(repository)
    assert installation is not None
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY + "# SLEEP 2\n"})
    await until(lambda: repository.check_runs(pull.head_sha))
    github.suspend(installation)
    unheard = repository.open_pull_request("later", title="Later", files={"train.py": BUGGY})
    refused = len(github.requests)
    await until(lambda: sum("/access_tokens" in each.path or repository.full_name in each.path for each in github.requests[refused:]) > 20)
    assert completed(repository, pull.head_sha) == 0
    github.suspend(installation, suspended=False)
    await until(lambda: completed(repository, pull.head_sha) == 1)
    (run,) = repository.check_runs(pull.head_sha)
    assert (run.conclusion, run.title) == ("neutral", "Preflight could not finish")
    assert "has been suspended" in (run.summary or "")
    assert repository.check_runs(unheard.head_sha) == ()  # GitHub told nobody
    await at_rest(repository)


def jobs_about(repository: Repository, state: Path) -> list[str]:
    """The stored jobs whose subject is in the repository."""
    with closing(sqlite3.connect(f"file:{state / 'jobs.sqlite'}?mode=ro", uri=True)) as database:
        return [name for (name,) in database.execute("SELECT workflow_uuid FROM workflow_status WHERE workflow_uuid LIKE ?", (f"%/{repository.id}/%",))]


def findings_of(repository: Repository, state: Path) -> list[str]:
    """The findings that are counted of the repository."""
    with closing(sqlite3.connect(f"file:{state / 'jobs-findings.sqlite'}?mode=ro", uri=True)) as database:
        return [name for (name,) in database.execute("SELECT finding FROM preflight_findings WHERE repository = ?", (repository.id,))]
