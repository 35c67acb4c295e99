"""The memory comment: one, untouched when nothing changed, brought up to date when the memory goes back, and silent where that is asked for."""

from __future__ import annotations

import pytest

from simulator import Repository, Simulator
from tests.bot.server.conftest import TRAIN, reviewed
from tests.bot.server.test_pull_request import LARGER

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]


async def test_off(github: Simulator) -> None:
    repository = github.create_repository("octo/quiet", {"train.py": TRAIN, ".preflight.toml": 'comment = "off"\n'})
    pull = repository.open_pull_request("larger", title="Larger", files={"train.py": LARGER})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert pull.comments == ()
    assert "goes from 8.0 GiB to 64.0 GiB" in (run.summary or "")


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
