"""``installation_repositories``: what is kept of a repository goes when the App is taken off it."""

from __future__ import annotations

from bot.events.jobs import forget_job
from bot.events.payload import Ignored, read
from bot.job import Job, Json

EVENT = "installation_repositories"


def job(delivery: str, payload: Json) -> Job | Ignored:
    """A job that forgets the repositories that were removed; of those that were added nothing is read yet."""
    removed = read(payload, "repositories_removed", list)
    if not removed:
        return Ignored("repositories were added: nothing is read before a pull request asks for it")
    return forget_job(delivery, read(payload, "installation.id", int), removed)
