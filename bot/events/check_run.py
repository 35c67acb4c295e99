"""``check_run``: the buttons "Re-run" and "Apply safe fixes"."""

from __future__ import annotations

from bot.events.check_target import job_behind
from bot.events.jobs import answer_job
from bot.events.payload import Ignored, read, repository_facts
from bot.job import Job, Json
from bot.review.action import APPLY_FIXES, RERUN

EVENT = "check_run"


def job(delivery: str, payload: Json) -> Job | Ignored:
    """A review of what the run's external id names, or the command behind the button that was pressed on it."""
    action = read(payload, "action", str)
    pressed = read(payload, "requested_action.identifier", str) if action == "requested_action" else RERUN.identifier
    if action not in {"rerequested", "requested_action"}:
        return Ignored(f"check_run.{action} asks for nothing")
    again = job_behind(read(payload, "check_run.external_id", str), delivery, repository_facts(payload))
    if again is None:
        return Ignored("the check run is none of ours")
    if pressed == RERUN.identifier:
        return again
    if pressed != APPLY_FIXES.identifier or "number" not in again.facts:
        return Ignored(f"the check run has no button {pressed[:20]}")
    return answer_job(delivery, repository_facts(payload), again.facts["number"], read(payload, "sender.login", str), [["fix"]])
