"""The server with the worker of these tests and without GitHub's pauses; everything else as it comes.

With the word "worker" it is ``preflight worker``; with "newer" a version to come, whose reviews have two steps more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bot import app
from bot.chains import chains
from bot.job import Chain, Json, Outcome, Step
from bot.settings import from_environment
from bot.workplace import Workplace
from tests.bot.server.conftest import HURRIED, WORKER


def newer_chains(place: Workplace) -> Mapping[str, Chain]:
    async def greet(facts: Json) -> Outcome:
        return Outcome("go on", facts | {"greeted": True})

    made = chains(place)
    steps = (Step("greet", greet, light=True), *made["review"].steps, Step("take leave", greet))
    return {**made, "review": replace(made["review"], steps=steps)}


if __name__ == "__main__":
    if "newer" in sys.argv[1:]:
        app.chains = newer_chains
    run = app.work if "worker" in sys.argv[1:] else app.serve
    run(replace(from_environment(os.environ, Path.cwd()), worker_command=WORKER, pace=replace(HURRIED, settle=2.0)))
    sys.exit(0)
