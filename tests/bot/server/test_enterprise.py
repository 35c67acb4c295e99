"""An Enterprise Server, whose address ends in /api/v3, is spoken to like GitHub itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from simulator import Repository, Simulator
from tests.bot.server.conftest import reviewed, serving, settings_for
from tests.bot.server.test_commands import replies
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bot(github: Simulator, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    settings = settings_for(github, tmp_path_factory.mktemp("state"))
    async with serving(replace(settings, api_url=f"{github.api_url}/api/v3")) as address:
        github.webhook_url = f"{address}/webhook"
        yield address


async def test_a_pull_request_and_a_command(github: Simulator, repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    assert (len(repository.check_runs(pull.head_sha)), len(pull.reviews), len(pull.comments)) == (1, 1, 1)
    pull.comment(repository.owner.login, "/preflight fix")
    await until(lambda: replies(github, pull))
    assert "this patch fixes 1 finding" in replies(github, pull)[0]
    assert github.counts["graphql"] > 0
