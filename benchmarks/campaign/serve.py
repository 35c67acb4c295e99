"""The server as it is, in a hurry, and with an analysis that only looks for marked lines: a campaign is about jobs, not about findings."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.app import serve
from bot.chains import review_pull, scan_branch
from bot.commands import compared
from bot.settings import Pace, from_environment
from bot.worker.wire import Task
from tests.bot.server import marked_lines

PACE = Pace(write_interval=0.0, short_wait=0.5, retry=0.05, poll=0.1, drain=0.0, settle=1.0, catch_up=2.0)
_ANSWERS = {
    "review": marked_lines.reviewed,
    "remember": marked_lines.remembered,
    "estimate": marked_lines.estimated,
    "fix": marked_lines.fixed,
    "sarif": marked_lines.scanned,
}


async def analysed(task: Task, _settings: object) -> dict[str, Any]:
    """The answer of the tests' worker, without a process; "SLEEP n" in the code takes n seconds."""
    for raw in task.head.contents.values():
        if slept := re.search(rb"SLEEP ([\d.]+)", raw):
            await asyncio.sleep(float(slept[1]))
    return _ANSWERS[task.what](task)


def main() -> None:
    """Serve with the stub in place of the worker processes."""
    for module in (review_pull, scan_branch, compared):
        module.run_task = analysed  # type: ignore[attr-defined]  # imported there by name
    settings = from_environment(os.environ, Path.cwd())
    hurried = "--pace-of-github" not in sys.argv
    serve(replace(settings, pace=PACE) if hurried else settings)


if __name__ == "__main__":
    main()
