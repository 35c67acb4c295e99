"""``check_run``: the button "Re-run" reviews the pull request again, though its head is the same."""

from __future__ import annotations

from bot.events.payload import Ignored, read, repository_facts, review_job
from bot.job import Job, Json

EVENT = "check_run"


def job(delivery: str, payload: Json) -> Job | Ignored:
    """A review of the pull request that the run's external id names: GitHub's own list is empty for forks."""
    action = read(payload, "action", str)
    if action != "rerequested":
        return Ignored(f"check_run.{action} asks for nothing")
    number, _, _ = read(payload, "check_run.external_id", str).partition("/")
    if not number.isascii() or not number.isdigit():
        return Ignored("the check run is none of ours")
    return review_job(delivery, repository_facts(payload), int(number), read(payload, "check_run.head_sha", str), again=True, asked=True)
