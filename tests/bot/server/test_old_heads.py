"""Nothing is written on a head that is no longer the newest, be it that it moved between two writes and nobody was told."""

from __future__ import annotations

import pytest

from simulator import Delay, Repository, Simulator
from tests.bot.server.conftest import reviewed
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]


async def test_a_push_before_the_review(github: Simulator, repository: Repository) -> None:
    github.fail_next("PATCH", r"/check-runs/\d+$", Delay(1.0))
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await until(lambda: not github.faults.waiting)
    github.webhooks.lose_next("pull_request")
    head = pull.push({"train.py": BUGGY.replace("64", "32")})
    await reviewed(repository, pull)
    assert [review.commit_id for review in pull.reviews] == [head]
    assert ["32.0 GiB" in comment.body for comment in pull.comments] == [True]


async def test_a_push_between_the_review_and_the_comment(github: Simulator, repository: Repository) -> None:
    before = github.counts.copy()
    github.fail_next("POST", r"/reviews$", Delay(1.0))
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    old = pull.head_sha
    await until(lambda: not github.faults.waiting)
    github.webhooks.lose_next("pull_request")
    pull.push({"train.py": BUGGY.replace("64", "32")})
    await reviewed(repository, pull)
    assert [review.commit_id for review in pull.reviews] == [old]
    assert ["32.0 GiB" in comment.body for comment in pull.comments] == [True]
    written = github.counts - before
    assert (written["issues/create-comment"], written["issues/update-comment"]) == (1, 0)
