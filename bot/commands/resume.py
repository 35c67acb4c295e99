"""`/preflight resume` ends a pause and reads the pull request as it is now."""

from __future__ import annotations

from bot.chains.pause import RESUMED
from bot.commands.command import Command, Reply, Request
from bot.events.jobs import review_job
from bot.review.comment import plain_sha


async def _run(request: Request) -> Reply:
    head = request.pull.head
    job = review_job(request.facts["delivery"], request.facts, request.pull.number, head, again=True)
    return Reply(f"Resumed: reading {plain_sha(head)}, and new pushes from now on.", marks=(RESUMED,), follow=(job,))


COMMAND = Command("resume", __doc__, _run)
