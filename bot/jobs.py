"""Durable jobs: stored before the webhook is answered, resumed after a crash, one at a time for each subject.

A job is a chain of named steps. Each step's outcome is stored, so a finished one is not repeated; the step that
runs at a crash is, so every step must be safe to run twice. All of DBOS that we use is in this file and
``bot.database``. What it leaves to us:

- one queue serialises a subject (a pull request), another limits an installation: DBOS takes one key per queue;
- a job that waits for a rate limit sleeps outside the installation's queue, so others may use the slot;
- a delivery is dropped only if its job is done, running or replaced; a redelivery of a failed one runs again;
- a job that brings the process down would loop for ever: five recoveries, then it is reported as failed.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import Any

from dbos import DBOS, SetEnqueueOptions, SetWorkflowID
from dbos import error as dbos_error

from bot.database import Database
from bot.github.errors import RateLimitedError, TransientError
from bot.job import Chain, Job, Json, Outcome
from bot.metrics import Metrics
from bot.settings import Pace

_SUBJECTS, _INSTALLATIONS = "subjects", "installations"
_ACTIVE = ["PENDING", "ENQUEUED", "DELAYED"]
_FAILED = {"ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"}
_WAITS = 12
_RECOVERIES = 5
_TRIES = 4
_RETRY_SECONDS = 1.0
_PER_INSTALLATION = 2
_AT_ONCE = 8
_KEEP_SECONDS = 7 * 86_400  # longer than GitHub offers a delivery again
_PRUNE_SECONDS = 3_600
_TAKE_OVER_SECONDS = 2

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Jobs:
    """The engine. DBOS lives once in a process, and so does this."""

    database: Database
    chains: Mapping[str, Chain]
    pace: Pace
    metrics: Metrics
    boot: str = field(default_factory=lambda: uuid.uuid4().hex)
    stopping: bool = False
    _chores: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> None:
        """Take the database, resume what a former process left, and begin to work. Raises DatabaseTakenError."""
        global _engine  # noqa: PLW0603  # workflows are module-level functions to DBOS, and reach the engine here
        self.database.open()
        _engine = self
        DBOS(config=self.database.config())
        DBOS.launch()
        await DBOS.register_queue_async(_SUBJECTS, partition_concurrency=1, polling_interval_sec=self.pace.poll)
        await DBOS.register_queue_async(
            _INSTALLATIONS, partition_concurrency=_PER_INSTALLATION, worker_concurrency=_AT_ONCE, polling_interval_sec=self.pace.poll
        )
        self._chores.append(asyncio.create_task(self._prune()))
        if self.database.shared:
            self._chores.append(asyncio.create_task(self._take_over()))

    async def stop(self) -> None:
        """Let short steps end; a longer one is resumed by the next process."""
        self.stopping = True
        for chore in self._chores:
            chore.cancel()
        # On the loop itself this call would freeze the very steps that it waits for.
        await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=int(self.pace.drain))
        self.database.close()

    async def add(self, job: Job) -> bool:
        """Store ``job``; False if its delivery is known and did not fail. Raises TimeoutError when the database is too slow."""
        async with asyncio.timeout(self.pace.enqueue_timeout):
            runs = await DBOS.list_workflows_async(name="job", workflow_id_prefix=f"{job.key}#", load_input=False, load_output=False)
            if any(run.status not in _FAILED for run in runs):
                return False
            own = f"{job.key}#{len(runs)}"
            await self._enqueue(job, own)
        if job.replaces:
            await self._replace_older(job, own)
        return True

    async def active(self) -> int:
        """How many jobs wait or run."""
        return len(await DBOS.list_workflows_async(name="job", status=_ACTIVE, load_input=False, load_output=False))

    async def _replace_older(self, job: Job, own: str) -> None:
        """Cancel the others of the same subject. Enqueued first, cancelled second: between the two nothing is lost."""
        prefix = f"{job.kind}/{job.subject}/"
        found = await DBOS.list_workflows_async(name="job", workflow_id_prefix=prefix, status=_ACTIVE, load_output=False)
        older = [run for run in found if run.workflow_id != own]
        if not older:
            return
        log.info("%s replaces %d older", own, len(older))
        await DBOS.cancel_workflows_async([run.workflow_id for run in older], cancel_children=True)
        for run in older:
            replaced = Job(**run.input["args"][0]) if run.input else job
            if replaced.when_replaced:
                tidying = Job(replaced.when_replaced, replaced.subject, replaced.installation, replaced.delivery, replaced.facts)
                await self._enqueue(tidying, f"{tidying.key}#0", self.pace.tidy_delay)

    async def _enqueue(self, job: Job, own: str, delay: float | None = None) -> None:
        with SetWorkflowID(own), SetEnqueueOptions(queue_partition_key=f"{job.kind}/{job.subject}", delay_seconds=delay):
            await DBOS.enqueue_workflow_async(_SUBJECTS, _job, asdict(job))

    async def _prune(self) -> None:
        """Forget finished jobs once GitHub no longer offers their deliveries again."""
        while True:
            before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - _KEEP_SECONDS))
            old = await DBOS.list_workflows_async(completed_before=before, limit=1_000, load_input=False, load_output=False)
            if old:
                await DBOS.delete_workflows_async([run.workflow_id for run in old])
            await asyncio.sleep(_PRUNE_SECONDS)

    async def _take_over(self) -> None:
        """Go on with the jobs of processes that died: DBOS does so only for a process of the same name."""
        while True:
            await asyncio.sleep(_TAKE_OVER_SECONDS)
            try:
                pending = await DBOS.list_workflows_async(status="PENDING", load_input=False, load_output=False)
                owners = {run.executor_id for run in pending if run.executor_id}
                dead = await asyncio.to_thread(self.database.dead, owners)
                if dead:
                    log.warning("taking over the jobs of %s", ", ".join(dead))
                    # Internal, and the reason why dbos is pinned to a minor version: the public call for one job
                    # resets its count of recoveries, so that one which crashes the process would loop for ever.
                    await asyncio.to_thread(DBOS._recover_pending_workflows, dead)  # noqa: SLF001
            except Exception:
                log.exception("jobs of other processes could not be looked after; trying again")

    async def perform(self, kind: str, index: int, state: Json, boot: str) -> Outcome:
        """One step, counted and timed. ``boot`` is the process that began the chain: what a dead one was writing must settle first."""
        if boot != self.boot:
            await asyncio.sleep(self.pace.settle)
        step = self.chains[kind].steps[index]
        started = time.monotonic()
        outcome = "failed"
        try:
            result = await step.run(state)
            outcome = result.then
        except RateLimitedError as error:
            log.info("%s %s waits %.0f s for GitHub", kind, step.name, error.seconds)
            outcome, result = "later", Outcome("later", state, error.seconds)
        finally:
            self.metrics.jobs.add(kind=kind, step=step.name, outcome=outcome)
            self.metrics.step_seconds.observe(time.monotonic() - started, kind=kind, step=step.name)
        return result


_engine: Jobs | None = None


def _worth_another_try(error: BaseException) -> bool:
    """A line that broke, or a machine that is out of something for a moment; a refusal stays one."""
    return isinstance(error, TransientError | OSError)


def _running() -> Jobs:
    if _engine is None:
        raise RuntimeError("no job can run before Jobs.start()")
    return _engine


def _partition(key: str) -> AbstractContextManager[Any]:
    return SetEnqueueOptions(queue_partition_key=key)


@DBOS.step(name="step", retries_allowed=True, interval_seconds=_RETRY_SECONDS, max_attempts=_TRIES, should_retry=_worth_another_try)
async def _step(kind: str, index: int, state: Json, boot: str) -> Json:
    return asdict(await _running().perform(kind, index, state, boot))


@DBOS.step(
    name="interruptible step", retries_allowed=True, interval_seconds=_RETRY_SECONDS, max_attempts=_TRIES, should_retry=_worth_another_try, preemptible=True
)
async def _interruptible_step(kind: str, index: int, state: Json, boot: str) -> Json:
    return asdict(await _running().perform(kind, index, state, boot))


@DBOS.step(name="boot")
async def _boot() -> str:
    """Which process began: the answer is stored, so a later process can tell that it is not the one."""
    return _running().boot


@DBOS.step(name="report failure", retries_allowed=True, interval_seconds=_RETRY_SECONDS, max_attempts=_TRIES, should_retry=_worth_another_try)
async def _report_failure(kind: str, facts: Json, reason: str) -> None:
    await _running().chains[kind].failed(facts, reason)


@DBOS.workflow(name="steps", max_recovery_attempts=_RECOVERIES)
async def _steps(kind: str, start: int, state: Json) -> Json:
    """Run the chain from step ``start``; holds a slot of the installation."""
    steps = _running().chains[kind].steps
    boot = await _boot()
    for index in range(start, len(steps)):
        perform = _interruptible_step if steps[index].interruptible else _step
        outcome = await perform(kind, index, state, boot)
        match outcome["then"]:
            case "later":
                return outcome | {"start": index, "state": state}
            case "done":
                return outcome
            case _:
                state = outcome["state"]
    return {"then": "done"}


@DBOS.workflow(name="job", max_recovery_attempts=10 * _RECOVERIES)
async def _job(job: Json) -> Json:
    """A job from beginning to end; holds its subject, but no slot of the installation while it sleeps."""
    own, start, state = DBOS.workflow_id, 0, job["facts"]
    reason = f"GitHub asked to wait {_WAITS} times"
    for wait in range(_WAITS):
        with SetWorkflowID(f"{own}/{wait}"), _partition(str(job["installation"])):
            handle = await DBOS.enqueue_workflow_async(_INSTALLATIONS, _steps, job["kind"], start, state)
        try:
            outcome = await handle.get_result(polling_interval_sec=_running().pace.poll)
        except (dbos_error.DBOSWorkflowCancelledError, dbos_error.DBOSAwaitedWorkflowCancelledError):
            raise  # replaced by a newer job, which reports
        except Exception as error:
            if _running().stopping:
                raise  # the next process goes on from here
            # Whatever it was, the check must not stay in progress.
            log.exception("%s failed", own)
            reason = f"{type(error).__name__}: {error}"
            break
        if outcome["then"] != "later":
            return outcome
        start, state = outcome["start"], outcome["state"]
        await DBOS.sleep_async(outcome["seconds"])
    await _report_failure(job["kind"], job["facts"], reason)
    raise JobFailedError(reason)


class JobFailedError(Exception):
    """A job ended without its result; it was reported, and a redelivery runs it again."""
