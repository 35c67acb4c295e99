"""`/preflight estimate [OPTIONS]` estimates peak memory with other options, those of the command line: `--gpu A100-80GB --batch-size 32`."""

from __future__ import annotations

from bot.commands.command import Command, Permission, Request
from bot.github.configuration import configuration_of
from bot.github.pull import merge_base, read_changes
from bot.review.comment import estimate_section
from bot.review.estimate_json import estimate_from_json
from bot.review.text import prose
from bot.worker.run import Stopped, run_task
from bot.worker.wire import Task


async def _run(request: Request) -> str:
    pull = request.pull
    tip, configuration = await configuration_of(request.client, request.reader, pull)
    changes = await read_changes(request.client, pull.number)
    base, head, _ = await request.reader.snapshots(await merge_base(request.client, tip, pull.head), pull.head, changes.paths)
    answer = await run_task(Task("estimate", base, head, configuration, tip, request.words), request.settings)
    if isinstance(answer, Stopped):
        return prose(answer.reason)
    if "error" in answer:
        return prose(answer["error"])
    estimates = [estimate_from_json(estimate) for estimate in answer["estimates"]]
    return "\n\n".join(map(estimate_section, estimates)) or "No entry point that trains a model was found."


COMMAND = Command("estimate", __doc__, Permission.WRITE, _run)
