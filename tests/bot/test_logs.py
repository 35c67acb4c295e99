"""A log line says what it is about, can be taken apart again, and holds no secret."""

from __future__ import annotations

import asyncio
import json
import logging
import re

import pytest

from bot.github.errors import TransientError
from bot.job import Chain, Json, Outcome, Step
from bot.logs import LineFormatter, about
from bot.metrics import Metrics
from bot.performer import Performer
from bot.settings import Pace

TOKEN = "ghs_123456_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2ln-bmF0_dXJl"
FACTS = {"delivery": "0b989ba4", "full_name": "octo/train", "number": 7, "head": "c0ffee", "author": "ada"}


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.handler.setFormatter(LineFormatter())
    caplog.set_level(logging.INFO)
    return caplog


def parsed(line: str) -> dict[str, str]:
    pairs = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)(?: |$)', line)
    return {name: json.loads(value) if value.startswith('"') else value for name, value in pairs}


def test_a_line_says_what_it_is_about(lines: pytest.LogCaptureFixture) -> None:
    with about(FACTS, step="begin"):
        logging.getLogger("bot.x").warning('it says "no"\nand %s', "stops")
    logging.getLogger("bot.x").info("quiet")
    first, second = map(parsed, lines.text.splitlines())
    assert first.pop("time").endswith("Z")
    assert first == {
        "level": "warning",
        "logger": "bot.x",
        "delivery": "0b989ba4",
        "repository": "octo/train",
        "pull_request": "7",
        "head": "c0ffee",
        "step": "begin",
        "message": 'it says "no"\nand stops',
    }
    assert set(second) == {"time", "level", "logger", "message"}


def test_tracebacks_hold_no_secret(lines: pytest.LogCaptureFixture) -> None:
    try:
        int(f"refused {TOKEN}")
    except ValueError:
        logging.getLogger("bot.x").exception("failed with %s", TOKEN)
    (line,) = lines.text.splitlines()
    assert parsed(line)["message"] == "failed with [redacted]"
    assert parsed(line)["error"].endswith("ValueError: invalid literal for int() with base 10: 'refused [redacted]'")
    assert "eyJ" not in line


async def test_what_a_step_logs_names_its_delivery_and_pull_request(lines: pytest.LogCaptureFixture) -> None:
    async def stumble(_facts: Json) -> Outcome:
        await asyncio.to_thread(logging.getLogger("bot.github").info, "a thread of the step")
        raise TransientError("502")

    async def failed(_facts: Json, _reason: str) -> None:
        return

    performer = Performer({"review": Chain((Step("look", stumble),), failed)}, Pace(retry=0.0), Metrics())
    await asyncio.gather(*(performer.perform("review", "look", FACTS | {"delivery": name}, performer.boot) for name in ("first", "second")))
    found = [(each["delivery"], each["pull_request"], each["job"], each["step"]) for each in map(parsed, lines.text.splitlines())]
    assert len(found) == 2 * 4 * 2  # four tries of both, a line of the thread and one of the performer each
    assert set(found) == {("first", "7", "review", "look"), ("second", "7", "review", "look")}
