"""`/preflight check` reads the pull request again, drafts and paused ones too; the check run reports."""

from __future__ import annotations

from bot.commands.command import Command, Reply, Request
from bot.events.jobs import review_job
from bot.review.comment import plain_sha


async def _run(request: Request) -> Reply:
    head = request.pull.head
    job = review_job(request.facts["delivery"], request.facts, request.pull.number, head, again=True, asked=True)
    return Reply(f"Reading {plain_sha(head)} again; the check run reports.", follow=(job,))


COMMAND = Command("check", __doc__, _run)
