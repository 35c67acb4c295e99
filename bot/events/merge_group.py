"""``merge_group``: a required check has to report on the merge queue's own commits, or the queue waits for ever."""

from __future__ import annotations

from bot.events.jobs import merge_job
from bot.events.payload import Ignored, read, repository_facts
from bot.job import Job, Json

EVENT = "merge_group"


def job(delivery: str, payload: Json) -> Job | Ignored:
    """A look at the group's commit; one that only ends the check where the group is gone."""
    action = read(payload, "action", str)
    if action not in {"checks_requested", "destroyed"}:
        return Ignored(f"merge_group.{action} asks for nothing")
    head, base = read(payload, "merge_group.head_sha", str), read(payload, "merge_group.base_sha", str)
    return merge_job(delivery, repository_facts(payload), head, base, destroyed=action == "destroyed")
