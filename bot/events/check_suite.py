"""``check_suite``: "Re-run all checks" looks again. New pushes are heard of through ``pull_request``."""

from __future__ import annotations

from bot.events.payload import Ignored, read, repository_facts
from bot.job import Job, Json

EVENT = "check_suite"


def job(delivery: str, payload: Json) -> Job | Ignored:
    """A job that asks what our runs on this commit were about: for a fork GitHub names no pull request here."""
    action = read(payload, "action", str)
    if action != "rerequested":
        return Ignored(f"check_suite.{action} asks for nothing")
    facts = repository_facts(payload) | {"head": read(payload, "check_suite.head_sha", str), "delivery": delivery}
    return Job("rerun", f"{facts['repository']}/{facts['head']}", facts["installation"], delivery, facts)
