"""Jobs as DBOS sees them: functions whose every step is stored, and which go on after a crash where they were.

They must do the same when they run again, so everything that looks at a clock or at GitHub happens inside a step. And they must
do so in whatever version of the server: while one is deployed an older and a newer one work on the same jobs, so a job keeps the plan
of steps that it was begun with, and who lacks a step hands it back to the queue.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from itertools import count
from typing import Any

from dbos import DBOS, SetEnqueueOptions, SetWorkflowID
from dbos import error as dbos_error

from bot.job import Job, Json
from bot.performer import ELSEWHERE_SECONDS, Performer

SUBJECTS, INSTALLATIONS = "subjects", "installations"

_WAITS = 12
#: With their pauses most of a day.
_REPORTS = 100
#: A job that brings the process down would otherwise do so for ever.
_RECOVERIES = 5
#: So often a job that this version does not know, or a step of it, goes back into the queue: an older version lives on beside a newer one for minutes.
_HAND_OVERS = 600
_HANDED_ON = "/handed-on/"
_ENOUGH = {
    "later": f"GitHub asked to wait {_WAITS} times",
    "elsewhere": f"no server that is running knows how to go on; {_HAND_OVERS} times one took it up and handed it back",
}

#: What DBOS says of a workflow that somebody cancelled while it ran.
_REPLACED = ("was cancelled during execution", "is no longer owned by this execution")

_performer: Performer | None = None

#: What this process works on just now, by the engine's ids, and jobs that ended there without having been reported.
at_work: Counter[str] = Counter()
broken: dict[str, Job] = {}


class JobFailedError(Exception):
    """A job ended without its result; it was reported, and a redelivery runs it again."""


#: How a job may end other than with its result: it was reported, or replaced.
_AS_IT_SHOULD = (JobFailedError, dbos_error.DBOSWorkflowCancelledError, dbos_error.DBOSAwaitedWorkflowCancelledError)


def use(performer: Performer) -> None:
    """Let the workflows of this process run on ``performer``: to DBOS they are module-level functions."""
    global _performer  # noqa: PLW0603  # as said above
    _performer = performer


def is_news(record: logging.LogRecord) -> bool:
    """Whether a record of DBOS says something new: that a job was replaced, failed and was reported, or is cut off by a stop, is how it should be."""
    error = record.exc_info[1] if record.exc_info else None
    stopping = _performer is not None and _performer.stopping
    replaced = any(words in record.getMessage() for words in _REPLACED)
    return not stopping and not replaced and not isinstance(error, _AS_IT_SHOULD)


def partition(key: str, delay: float | None = None) -> AbstractContextManager[Any]:
    """What is enqueued inside runs in turn with everything of the same ``key``, ``delay`` seconds from now at the earliest."""
    return SetEnqueueOptions(queue_partition_key=key, delay_seconds=delay)


@contextmanager
def _in_sight() -> Iterator[str]:
    """Lets ``bot.strays`` tell what is worked on from what was cut off; gives the engine's id of it."""
    name = DBOS.workflow_id or ""
    at_work[name] += 1
    try:
        yield name
    finally:
        at_work[name] -= 1
        if not at_work[name]:
            del at_work[name]


@DBOS.workflow(name="job", max_recovery_attempts=10 * _RECOVERIES)
async def job(value: Json) -> Json:
    """A job from beginning to end; holds its subject, but no slot of the installation while it sleeps."""
    with _in_sight() as name:
        try:
            return await _job(value)
        except _AS_IT_SHOULD:
            raise
        except Exception:
            broken[name] = Job(**value)
            raise


async def _job(value: Json) -> Json:
    kind, start, state = value["kind"], 0, value["facts"]
    begun = await _begun(kind)
    if not begun["knows"]:
        return await _hand_on(value)
    left = {"later": _WAITS, "elsewhere": _HAND_OVERS}
    for number in count():
        try:
            outcome = await _through(value, begun, start, state, number)
        except dbos_error.DBOSAwaitedWorkflowMaxRecoveryAttemptsExceeded:
            reason = f"the server went down {_RECOVERIES} times while it worked on this"
            break
        if outcome["then"] == "done":
            await _enqueue_following(outcome.get("follow", ()))
            return outcome
        if outcome["then"] == "failed":
            reason = outcome["state"]["reason"]
            break
        start, state = outcome["start"], outcome["state"]
        cause = "elsewhere" if outcome["then"] == "elsewhere" else "later"
        left[cause] -= 1
        if not left[cause]:
            reason = _ENOUGH[cause]
            break
        await DBOS.sleep_async(outcome["seconds"])
        if cause == "elsewhere" and (now := await _begun(kind))["plan"] != begun["plan"]:
            begun, start, state = now, 0, value["facts"]  # who made the plan is gone: it begins anew with one that is known here
    await _report(kind, value["facts"] | {"known": state}, reason)
    raise JobFailedError(reason)


@DBOS.workflow(name="steps", max_recovery_attempts=_RECOVERIES)
async def steps(kind: str, plan: list[Json], start: int, state: Json) -> Json:
    """The steps of ``plan`` from ``start`` on; holds a slot of the installation."""
    with _in_sight():
        begun = await _begun(kind)
        for index, step in enumerate(plan[start:], start):
            outcome = await _perform(kind, step, state, begun["boot"])
            if outcome["then"] != "go on":
                return _stopped(outcome, index)
            state = outcome["state"]
        return {"then": "done"}


async def _through(value: Json, begun: Json, start: int, state: Json, number: int) -> Json:
    """How the steps from ``start`` on end, the ``number``-th time that they are taken up."""
    outcome = await _light_steps(value["kind"], begun["plan"], start, state, begun["boot"])
    if outcome["then"] != "go on":
        return outcome
    with SetWorkflowID(f"{DBOS.workflow_id}/{number}"), partition(str(value["installation"])):
        handle = await DBOS.enqueue_workflow_async(INSTALLATIONS, steps, value["kind"], begun["plan"], outcome["start"], outcome["state"])
    ended: Json = await handle.get_result(polling_interval_sec=_running().pace.poll)
    return ended


async def _light_steps(kind: str, plan: list[Json], start: int, state: Json, boot: str) -> Json:
    """The steps of ``plan`` from ``start`` on for as long as no slot is needed; "go on" says from which step one is."""
    for index, step in enumerate(plan[start:], start):
        if not step["light"]:
            return {"then": "go on", "start": index, "state": state}
        outcome = await _perform(kind, step, state, boot)
        if outcome["then"] != "go on":
            return _stopped(outcome, index)
        state = outcome["state"]
    return {"then": "done"}


async def _hand_on(value: Json) -> Json:
    """A job of a kind that came with a newer version goes back into the queue, for a process that has it; here its subject is free again."""
    origin, _, handed = (DBOS.workflow_id or "").partition(_HANDED_ON)
    number = int(handed or 0) + 1
    if number > _HAND_OVERS:
        raise JobFailedError(_ENOUGH["elsewhere"])
    with SetWorkflowID(f"{origin}{_HANDED_ON}{number}"), partition(Job(**value).queue, ELSEWHERE_SECONDS):
        await DBOS.enqueue_workflow_async(SUBJECTS, job, value)
    return {"then": "elsewhere"}


def _stopped(outcome: Json, index: int) -> Json:
    """The outcome of step ``index``, with the step from which to go on should there be more to do."""
    return outcome | {"start": 0 if outcome["then"] == "again" else index}


async def _perform(kind: str, step: Json, state: Json, boot: str) -> Json:
    perform = _interruptible_step if step["interruptible"] else _step
    outcome: Json = await perform(kind, step["name"], state, boot)
    return outcome


async def _enqueue_following(jobs: Iterable[Json]) -> None:
    """The jobs that this one asks for: named after it, so that a repetition enqueues none twice."""
    for each in jobs:
        following = Job(**each)
        with SetWorkflowID(f"{following.key}#0"), partition(following.queue):
            await DBOS.enqueue_workflow_async(SUBJECTS, job, each)


async def _report(kind: str, facts: Json, reason: str) -> None:
    """GitHub may be away for hours, and a check that stays in progress blocks a merge: this is not given up as easily as a step."""
    for told in range(_REPORTS):
        outcome = await _report_step(kind, facts, reason, told)
        if outcome["then"] != "later":
            return
        await DBOS.sleep_async(outcome["seconds"])


@DBOS.step(name="step")
async def _step(kind: str, name: str, state: Json, boot: str) -> Json:
    return asdict(await _running().perform(kind, name, state, boot))


@DBOS.step(name="interruptible step", preemptible=True)
async def _interruptible_step(kind: str, name: str, state: Json, boot: str) -> Json:
    return asdict(await _running().perform(kind, name, state, boot))


@DBOS.step(name="report failure")
async def _report_step(kind: str, facts: Json, reason: str, before: int) -> Json:
    return asdict(await _running().report(kind, facts, reason, before))


@DBOS.step(name="begun")
async def _begun(kind: str) -> Json:
    """The process that begins, its plan, and whether it ``knows`` such jobs: stored, so a later process can tell that it is another."""
    running = _running()
    return {"boot": running.boot, "plan": running.plan(kind), "knows": kind in running.chains}


def _running() -> Performer:
    if _performer is None:
        raise RuntimeError("no job can run before there is something to run it on")
    return _performer
