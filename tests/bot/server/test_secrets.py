"""Key, webhook secret and tokens stay in the server's memory: no file and no line of the log holds one, in either format of a token."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from simulator import BadGateway, Simulator
from simulator.auth.tokens import TokenFormat
from simulator.ports import free_port
from simulator.simulator import LEAST_PERMISSIONS
from tests.bot.server.conftest import TRAIN, reviewed
from tests.bot.server.processes import idle, listening, process
from tests.bot.server.test_commands import replies
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until


@pytest.mark.parametrize("token_format", ["opaque", "stateless"])
async def test_nothing_is_written_down(tmp_path: Path, token_format: TokenFormat) -> None:
    log, state = tmp_path / "log", tmp_path / "state"
    async with Simulator.start() as github:
        github.service.tokens.format = token_format
        repository = github.create_repository("octo/train", {"train.py": TRAIN}, installed=False)
        github.install("octo", permissions={**LEAST_PERMISSIONS, "contents": "write"})
        port = free_port()
        github.webhook_url = f"http://127.0.0.1:{port}/webhook"
        github.fail_next("POST", r"/check-runs$", BadGateway())
        with log.open("wb") as written, process(github, state, port, log=written, level="DEBUG"):
            await listening(port)
            pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
            await reviewed(repository, pull)
            pull.comment("octo", "/preflight fix")
            await until(lambda: replies(github, pull))
            await idle(port)
            tokens = set(github.service.tokens._tokens)
            kept = [path.read_bytes() for path in state.rglob("*") if path.is_file()]
        assert "Fixed 1 finding" in replies(github, pull)[0]
        secrets = [*tokens, github.webhook_secret, *github.private_key.splitlines()[1:-1]]
    assert len(tokens) > 1
    assert any(b"octo/train" in content for content in kept)
    assert b"pull_request=1 " in log.read_bytes()
    assert [secret for secret in secrets for content in (*kept, log.read_bytes()) if os.fsencode(secret) in content] == []
