"""What a repository configures decides what its pull requests hear: drafts, failing, suggestions."""

from __future__ import annotations

import pytest

from simulator import Repository, Simulator
from tests.bot.server.conftest import TRAIN, reviewed
from tests.bot.server.test_pull_request import BUGGY

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]


def configured(github: Simulator, name: str, line: str, **files: str) -> Repository:
    return github.create_repository(f"octo/{name}", {"train.py": TRAIN, ".preflight.toml": f"{line}\n", **files})


async def test_drafts_are_read_where_that_is_asked_for(github: Simulator) -> None:
    repository = configured(github, "drafts", "drafts = true")
    pull = repository.open_pull_request("draft", title="Draft", files={"train.py": BUGGY}, draft=True)
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert (run.conclusion, len(pull.reviews)) == ("neutral", 1)


async def test_a_finding_fails_the_check_where_that_is_asked_for(github: Simulator) -> None:
    repository = configured(github, "strict", 'fail-on = "error"')
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert run.conclusion == "failure"
    assert "This check fails from error on (`fail-on`)." in (run.summary or "")
    sha = pull.push({"train.py": BUGGY.replace("BUG", "fixed")})
    await reviewed(repository, pull)
    assert [run.conclusion for run in repository.check_runs(sha)] == ["success"]


async def test_without_suggestions_findings_are_annotations(github: Simulator) -> None:
    repository = configured(github, "plain", "suggestions = false")
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert (pull.reviews, pull.review_comments) == ((), ())
    (annotation,) = run.annotations
    assert (annotation.start_line, annotation.raw_details) == (5, "Write what is right\ntotal += fixed\n")


async def test_the_configuration_of_a_pull_request_does_not_count_before_it_is_merged(github: Simulator) -> None:
    repository = configured(github, "judge", 'fail-on = "error"')
    pull = repository.open_pull_request("lenient", title="Lenient", files={"train.py": BUGGY, ".preflight.toml": 'fail-on = "never"\n'})
    await reviewed(repository, pull)
    assert [run.conclusion for run in repository.check_runs(pull.head_sha)] == ["failure"]
    pull.merge()
    later = repository.open_pull_request("later", title="Later", files={"train.py": BUGGY + "more = BUG\n"})
    await reviewed(repository, later)
    assert [run.conclusion for run in repository.check_runs(later.head_sha)] == ["neutral"]
