"""How many requests a review costs: GitHub allows an installation 5,000 an hour."""

from __future__ import annotations

import pytest

from simulator import Simulator
from tests.bot.server.conftest import TRAIN, reviewed
from tests.bot.server.test_pull_request import BUGGY

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]

MODULES = {f"package/module_{number}.py": f"value = {number}\n" for number in range(30)}
AT_FIRST_SIGHT = 24
KNOWN = 16


async def test_a_review_of_five_files(github: Simulator) -> None:
    repository = github.create_repository("octo/budget", {**MODULES, "train.py": TRAIN})
    for round_, most in enumerate((AT_FIRST_SIGHT, KNOWN, KNOWN), start=1):
        before = len(github.requests)
        changed = {path: f"{text}# {round_}\n" for path, text in list(MODULES.items())[:4]}
        pull = repository.open_pull_request(f"faster-{round_}", title="Faster", files={"train.py": f"{BUGGY}# {round_}\n", **changed})
        await reviewed(repository, pull)
        assert (len(pull.reviews), len(pull.comments)) == (1, 1)
        assert len(github.requests) - before <= most
