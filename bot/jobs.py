"""Durable jobs: stored before the webhook is answered, resumed after a crash, one at a time for each subject.

A job is a chain of named steps. Each step's outcome is stored, so a finished one is not repeated; the step that
runs at a crash is, so every step must be safe to run twice. All of DBOS that we use is in this file,
``bot.workflows`` and ``bot.database``. What it leaves to us:

- one queue serialises a subject (a pull request), another limits an installation: DBOS takes one key per queue;
- a job that waits for a rate limit sleeps outside the installation's queue, so others may use the slot;
- a delivery is dropped only if its job is done, running or replaced; a redelivery of a failed one runs again;
- a job that brings the process down would loop for ever: five recoveries, then it is reported as failed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import asdict, dataclass, field, replace
from itertools import count

from dbos import DBOS, SetWorkflowID

from bot import workflows
from bot.chores import every
from bot.database import Database
from bot.history import ACTIVE, is_replaced
from bot.job import Job
from bot.metrics import Queue
from bot.performer import Performer
from bot.settings import Pace
from bot.strays import Strays

_FAILED = {"ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"}
_PER_INSTALLATION = 2
_AT_ONCE = 8
_KEEP_SECONDS = 7 * 86_400  # longer than GitHub offers a delivery again
_PRUNE_SECONDS = 3_600
_PRUNED_TOGETHER = 1_000
_TAKE_OVER_SECONDS = 2
_TAKE_UP_SECONDS = 5

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Jobs:
    """The engine. DBOS lives once in a process, and so does this."""

    database: Database
    performer: Performer
    pace: Pace
    _chores: list[asyncio.Task[None]] = field(default_factory=list)
    _replacing: set[asyncio.Task[None]] = field(default_factory=set)

    async def start(self) -> None:
        """Take the database, resume what a former process left, and begin to work. Raises DatabaseUnavailableError."""
        self.database.open()
        workflows.use(self.performer)
        self.performer.is_replaced = is_replaced
        config = self.database.config()
        DBOS(config=config)
        logging.getLogger("dbos").addFilter(workflows.is_news)
        DBOS.launch()
        await DBOS.register_queue_async(workflows.SUBJECTS, partition_concurrency=1, polling_interval_sec=self.pace.poll)
        await DBOS.register_queue_async(
            workflows.INSTALLATIONS, partition_concurrency=_PER_INSTALLATION, worker_concurrency=_AT_ONCE, polling_interval_sec=self.pace.poll
        )
        self._chores.append(asyncio.create_task(every(_PRUNE_SECONDS, self._prune)))
        self._chores.append(asyncio.create_task(every(_TAKE_UP_SECONDS, Strays(config["executor_id"] or "", self.add).take_up)))
        if self.database.shared:
            self._chores.append(asyncio.create_task(every(_TAKE_OVER_SECONDS, self._take_over)))

    async def stop(self) -> None:
        """Let short steps end; a longer one is resumed by the next process."""
        self.performer.stopping = True
        for chore in self._chores:
            chore.cancel()
        if self._replacing:
            await asyncio.wait(self._replacing, timeout=self.pace.enqueue_timeout)
        # On the loop itself this call would freeze the very steps that it waits for.
        await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=int(self.pace.drain))
        self.database.close()

    async def add(self, job: Job) -> bool:
        """Store ``job``; False if its delivery is known and did not fail. Raises TimeoutError when the database is too slow."""
        async with asyncio.timeout(self.pace.enqueue_timeout):
            own, is_new = await self._run_of(job)
            if is_new:
                await self._enqueue(job, own)
        if job.replaces:
            # Whoever delivers need not wait for this: an older job that is not replaced after all is only in vain.
            replacing = asyncio.create_task(self._replace_older(job, own))
            self._replacing.add(replacing)
            replacing.add_done_callback(self._replaced)
        return is_new

    async def queue(self) -> Queue:
        """The jobs that wait or run."""
        found = await DBOS.list_workflows_async(name="job", status=list(ACTIVE), load_input=False, load_output=False)
        oldest = min((run.created_at for run in found if run.created_at), default=None)
        return Queue(len(found), 0.0 if oldest is None else max(0.0, time.time() - oldest / 1_000))

    async def _run_of(self, job: Job) -> tuple[str, bool]:
        """The id of the run of this delivery, and whether it is still to be made: one is made anew only where all others failed."""
        for number in count():
            own = f"{job.key}#{number}"
            found = await DBOS.get_workflow_status_async(own)
            if found is None or found.status not in _FAILED:
                return own, found is None
        raise AssertionError("counting does not end")

    def _replaced(self, task: asyncio.Task[None]) -> None:
        self._replacing.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("older jobs were not replaced", exc_info=error)

    async def _replace_older(self, job: Job, own: str) -> None:
        """Cancel the older ones of the same subject, so that of two which come at once exactly one is left.

        First comes what is to run in any case, then what cancels: wherever this ends, nothing is lost. What tidies up comes
        once whatever a replaced job was writing has happened or not.
        """
        prefix = f"{job.kind}/{job.subject}/"
        found = await DBOS.list_workflows_async(name="job", workflow_id_prefix=prefix, status=list(ACTIVE), load_output=False)
        jobs = {run.workflow_id: Job(**run.input["args"][0]) for run in found if run.input}
        age = {name: (each.added, name) for name, each in jobs.items()}
        older = {name: each for name, each in jobs.items() if own in age and age[name] < age[own]}
        if not older:
            return
        log.info("%s replaces %d older", own, len(older))
        for name, replaced in older.items():
            if replaced.when_replaced:
                facts = replaced.facts | {"by": job.facts, "replaced": name}
                tidying = Job(replaced.when_replaced, replaced.subject, replaced.installation, replaced.delivery, facts)
                await self._enqueue(tidying, f"{tidying.key}#0", self.pace.settle)
        await DBOS.cancel_workflows_async(list(older), cancel_children=True)

    async def _enqueue(self, job: Job, own: str, delay: float | None = None) -> None:
        with SetWorkflowID(own), workflows.partition(job.queue, delay):
            await DBOS.enqueue_workflow_async(workflows.SUBJECTS, workflows.job, asdict(job if job.added else replace(job, added=time.time())))

    async def _prune(self) -> None:
        """Forget finished jobs once GitHub no longer offers their deliveries again."""
        before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - _KEEP_SECONDS))
        while old := await DBOS.list_workflows_async(completed_before=before, limit=_PRUNED_TOGETHER, load_input=False, load_output=False):
            await DBOS.delete_workflows_async([run.workflow_id for run in old])

    async def _take_over(self) -> None:
        """Go on with the jobs of processes that died: DBOS does so only for a process of the same name."""
        pending = await DBOS.list_workflows_async(status="PENDING", load_input=False, load_output=False)
        owners = {run.executor_id for run in pending if run.executor_id}
        dead = await asyncio.to_thread(self.database.dead, owners)
        if dead:
            log.warning("taking over the jobs of %s", ", ".join(dead))
            # Internal, and the reason why dbos is pinned to a minor version: the public call for one job resets its
            # count of recoveries, so that one which crashes the process would loop for ever.
            await asyncio.to_thread(DBOS._recover_pending_workflows, dead)  # noqa: SLF001
