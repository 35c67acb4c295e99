"""``check_suite``: "Re-run all checks" reviews the pull request again. New pushes are heard of through ``pull_request``."""

from __future__ import annotations

from bot.events.payload import Ignored, MalformedPayloadError, read, repository_facts, review_job
from bot.job import Job, Json

EVENT = "check_suite"


def job(delivery: str, payload: Json) -> Job | Ignored:
    """A review of the pull request that the suite belongs to; for a fork GitHub names none, and "Re-run" on the check itself does."""
    action = read(payload, "action", str)
    if action != "rerequested":
        return Ignored(f"check_suite.{action} asks for nothing")
    pulls = read(payload, "check_suite.pull_requests", list)
    if not pulls:
        return Ignored("GitHub names no pull request for this suite")
    if not isinstance(pulls[0], dict):
        raise MalformedPayloadError("check_suite.pull_requests does not hold objects")
    return review_job(delivery, repository_facts(payload), read(pulls[0], "number", int), read(payload, "check_suite.head_sha", str), again=True, asked=True)
