"""``pull_request``: a change that is new, moved, or looked at differently is reviewed."""

from __future__ import annotations

from bot.events.jobs import review_job
from bot.events.payload import SKIP_LABEL, Ignored, read, repository_facts
from bot.job import Job, Json

EVENT = "pull_request"

#: One look a head; a closed pull request gets none, but the one that still runs is ended.
_ONCE = {"opened", "synchronize", "closed"}
_SAME_HEAD = {"reopened", "ready_for_review", "converted_to_draft"}
_LABEL = {"labeled", "unlabeled"}


def job(delivery: str, payload: Json) -> Job | Ignored:
    """A review, for the actions that change what it would say."""
    action = read(payload, "action", str)
    if not _matters(action, payload):
        return Ignored(f"pull_request.{action} changes nothing that is reviewed")
    number = read(payload, "pull_request.number", int)
    head = read(payload, "pull_request.head.sha", str)
    return review_job(delivery, repository_facts(payload), number, head, again=action not in _ONCE)


def _matters(action: str, payload: Json) -> bool:
    if action in _LABEL:
        return read(payload, "label.name", str) == SKIP_LABEL
    if action == "edited":
        return "base" in read(payload, "changes", dict)
    return action in _ONCE | _SAME_HEAD
