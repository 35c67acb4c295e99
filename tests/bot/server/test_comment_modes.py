"""The memory comment: one, untouched when nothing changed, brought up to date when the memory goes back, and silent where that is asked for."""

from __future__ import annotations

import pytest

from simulator import Repository, Simulator
from simulator.checking import rerequest
from tests.bot.server.conftest import TRAIN, at_rest, reviewed
from tests.bot.server.test_pull_request import LARGER
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]


async def test_off(github: Simulator) -> None:
    repository = github.create_repository("octo/quiet", {"train.py": TRAIN, ".preflight.toml": 'comment = "off"\n'})
    pull = repository.open_pull_request("larger", title="Larger", files={"train.py": LARGER})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert pull.comments == ()
    assert "goes from 8.0 GiB to 64.0 GiB" in (run.summary or "")


async def test_one_that_says_it_already_is_not_written_again(github: Simulator, repository: Repository) -> None:
    pull = repository.open_pull_request("larger", title="Larger", files={"train.py": LARGER})
    await reviewed(repository, pull)
    before, written = pull.comments, github.counts["issues/update-comment"]
    (run,) = repository.check_runs(pull.head_sha)
    rerequest(repository, run, repository.owner)
    await until(lambda: sum(each.status == "completed" for each in repository.check_runs(pull.head_sha)) == 2)
    await at_rest(repository)
    assert (pull.comments, github.counts["issues/update-comment"]) == (before, written)


async def test_it_is_found_again_behind_more_than_a_page_of_others(repository: Repository) -> None:
    pull = repository.open_pull_request("larger", title="Larger", files={"README.md": "Trains.\n\nSoon larger.\n"})
    for number in range(120):
        pull.comment("ada", f"Remark {number}")
    for gibibytes in (32, 64):
        pull.push({"train.py": LARGER.replace("64", str(gibibytes))})
        await reviewed(repository, pull)
    *others, memory = pull.comments
    assert len(others) == 120
    assert "goes from 8.0 GiB to 64.0 GiB" in memory.body


async def test_no_comment_where_no_memory_changes(repository: Repository) -> None:
    pull = repository.open_pull_request("same", title="Same", files={"train.py": TRAIN + "# a comment\n"})
    await reviewed(repository, pull)
    assert pull.comments == ()


async def test_a_change_that_is_taken_back_is_said_in_the_same_comment(repository: Repository) -> None:
    pull = repository.open_pull_request("larger", title="Larger", files={"train.py": LARGER})
    await reviewed(repository, pull)
    (first,) = pull.comments
    pull.push({"train.py": TRAIN + "# a comment\n"})
    await reviewed(repository, pull)
    (second,) = pull.comments
    assert second.id == first.id
    assert "64.0 GiB" not in second.body
