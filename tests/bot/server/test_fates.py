"""What becomes of findings is counted by rule, for whoever runs the bot; nothing of the code is kept for it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from bot.cli.stats import run
from simulator import Repository, Simulator
from tests.bot.server.conftest import TRAIN, at_rest, reviewed, serving, settings_for
from tests.bot.server.processes import environment
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]

ALL = "".join(f"value_{name} = BUG\n" for name in ("applied", "fixed", "resolved", "ignored"))


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bot(github: Simulator, state: Path) -> AsyncIterator[str]:
    async with serving(settings_for(github, state)) as address:
        github.webhook_url = f"{address}/webhook"
        yield address


def rows(repository: Repository, state: Path) -> list[str]:
    with closing(sqlite3.connect(f"file:{state / 'jobs-findings.sqlite'}?mode=ro", uri=True)) as database:
        found = database.execute("SELECT outcome FROM preflight_findings WHERE repository = ? ORDER BY outcome", (repository.id,))
        return [outcome for (outcome,) in found]


async def test_every_fate(
    github: Simulator, repository: Repository, bot: str, state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": TRAIN + ALL})
    await reviewed(repository, pull)
    assert rows(repository, state) == ["open"] * 4
    comments = {comment.body.partition("value_")[2].partition(" ")[0]: comment for comment in pull.review_comments}
    pull.resolve_thread(comments["resolved"].id, user="ada")
    pull.apply_suggestion(comments["applied"].id)
    await reviewed(repository, pull)
    pull.push({"train.py": repository.read("faster", "train.py").replace("value_fixed = BUG\n", "")})
    await reviewed(repository, pull)
    assert rows(repository, state) == ["applied", "fixed", "open", "resolved"]
    pull.merge()
    await until(lambda: "ignored" in rows(repository, state))
    assert rows(repository, state) == ["applied", "fixed", "ignored", "resolved"]
    async with aiohttp.ClientSession() as session, session.get(f"{bot}/metrics") as response:
        assert 'preflight_finding_fates{fate="applied",rule="marked-line"} 1' in (await response.text()).splitlines()
    for name, value in environment(github, state, 8080).items():
        monkeypatch.setenv(name, value)
    assert run(["--format", "json"]) == 0
    (counted,) = json.loads(capsys.readouterr().out)["rules"]
    assert (counted["rule"], counted["applied"], counted["resolved"], counted["suppressed"]) == ("marked-line", 1, 1, 0)
    assert run([]) == 0
    assert "marked-line" in capsys.readouterr().out


async def test_suppressed_in_the_code(github: Simulator, state: Path) -> None:
    repository = github.create_repository("octo/silent", {"train.py": TRAIN})
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": TRAIN + "value = BUG\n"})
    await reviewed(repository, pull)
    pull.push({"train.py": TRAIN + "# preflight: ignore[marked-line] it is meant\nvalue = 1\n"})
    await reviewed(repository, pull)
    assert rows(repository, state) == ["suppressed"]
    await at_rest(repository)
