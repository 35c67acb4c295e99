"""`/preflight estimate [OPTIONS]` estimates peak memory with other options, those of the command line: `--gpu A100-80GB --batch-size 32`."""

from __future__ import annotations

from bot.commands.command import Command, Reply, Request
from bot.commands.compared import ask_worker
from bot.review.comment import estimate_section
from bot.review.estimate_json import estimate_from_json


async def _run(request: Request) -> Reply:
    asked = await ask_worker(request, "estimate")
    estimates = [estimate_from_json(estimate) for estimate in asked.answer["estimates"]]
    return Reply("\n\n".join(map(estimate_section, estimates)) or "No entry point that trains a model was found.")


COMMAND = Command("estimate", __doc__, _run)
