"""``installation``: who installed or removed the App; noted, nothing is read before a pull request asks for it.

New permissions need no action: what an installation has granted is asked for whenever it matters.
"""

from __future__ import annotations

import logging

from bot.events.jobs import forget_job
from bot.events.payload import Ignored, read
from bot.job import Job, Json

EVENT = "installation"

log = logging.getLogger(__name__)


def job(delivery: str, payload: Json) -> Job | Ignored:
    """A job that forgets what is kept of an installation that is gone; other actions need none."""
    action, installation = read(payload, "action", str), read(payload, "installation.id", int)
    log.info("installation %d: %s", installation, action)
    if action != "deleted":
        return Ignored(f"installation.{action} is noted")
    return forget_job(delivery, installation, payload.get("repositories", []))
