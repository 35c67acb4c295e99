"""Takes deliveries in: stored at once in the inbox, then handed to the job engine in the order they came, again and again until it has them."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field

from bot.chores import every
from bot.inbox import Inbox
from bot.job import Job
from bot.jobs import Jobs
from bot.locks import Locks
from bot.metrics import Queue
from bot.settings import Pace

#: Handed to the engine at once; more would only wait for its database.
_TOGETHER = 4
#: Younger ones are on their way in the process that took them.
_LEFT_BEHIND_SECONDS = 10.0

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Intake:
    """Between the webhook and the engine."""

    inbox: Inbox
    jobs: Jobs
    pace: Pace
    _subjects: Locks = field(default_factory=Locks)
    _ways: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_TOGETHER))
    _handing: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _chores: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> None:
        """Hand over what a former process left, and from now on what others leave."""
        await self._take(before=time.time())
        self._chores.append(asyncio.create_task(every(_LEFT_BEHIND_SECONDS, self._take_left, first=_LEFT_BEHIND_SECONDS)))

    async def stop(self) -> None:
        """What is not handed over yet lies in the inbox for the next process."""
        under_way = [*self._chores, *self._handing.values()]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        self.inbox.close()

    async def accept(self, job: Job) -> None:
        """Store ``job``; it is safe when this returns. Raises TimeoutError or the database's error where it could not be stored."""
        async with asyncio.timeout(self.pace.enqueue_timeout):
            self._hand_over(await self.inbox.put(job))

    async def queue(self) -> Queue:
        """What waits here or in the engine, or runs."""
        here, oldest = await self.inbox.waiting()
        there = await self.jobs.queue()
        return Queue(here + there.active, max(there.oldest_seconds, 0.0 if oldest is None else time.time() - oldest))

    async def _take_left(self) -> None:
        await self._take(before=time.time() - _LEFT_BEHIND_SECONDS)

    async def _take(self, before: float) -> None:
        for job in await self.inbox.left(before):
            self._hand_over(job)

    def _hand_over(self, job: Job) -> None:
        if job.key not in self._handing:
            task = self._handing[job.key] = asyncio.create_task(self._handed(job))
            task.add_done_callback(lambda _: self._handing.pop(job.key, None))

    async def _handed(self, job: Job) -> None:
        """Let the engine store ``job`` before it is removed here: storing it twice is harmless, losing it is not."""
        wait = self.pace.retry
        async with self._subjects.alone(job.queue):  # first come, first handed over: a newer job looks for the older ones that it replaces
            while not await self._tried(job, wait):
                await asyncio.sleep(wait)
                wait = min(2 * wait, _LEFT_BEHIND_SECONDS)

    async def _tried(self, job: Job, wait: float) -> bool:
        try:
            async with self._ways:
                if not await self.jobs.add(job):
                    log.info("%s is known", job.key)
                await self.inbox.remove(job)
        except Exception:
            log.exception("%s is not handed over yet; trying again in %g s", job.key, wait)
            return False
        return True
