"""What several commands need: the pull request's two commits, given to a worker with a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analysis.snapshot import Snapshot
from bot.commands.command import CommandError, Request
from bot.github.configuration import configuration_of
from bot.github.pull import Changes, merge_base, read_changes
from bot.worker.run import Stopped, run_task
from bot.worker.wire import Task


@dataclass(frozen=True, slots=True)
class Asked:
    """The worker's ``answer`` about the commit ``head``, and the ``changes`` of the pull request."""

    answer: dict[str, Any]
    head: Snapshot
    changes: Changes


async def ask_worker(request: Request, what: str) -> Asked:
    """The answer to the task ``what`` with the command's words. Raises CommandError with the worker's own sentence."""
    tip, configuration = await configuration_of(request.client, request.reader, request.pull)
    changes = await read_changes(request.client, request.pull.number)
    merged = await merge_base(request.client, tip, request.pull.head)
    base, head, _ = await request.reader.snapshots(merged, request.pull.head, changes.paths)
    answer = await run_task(Task(what, base, head, configuration, tip, request.words), request.place.settings)
    if isinstance(answer, Stopped):
        raise CommandError(answer.reason)
    if "error" in answer:
        raise CommandError(answer["error"])
    return Asked(answer, head, changes)
