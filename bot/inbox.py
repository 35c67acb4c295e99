"""Deliveries between the answer to GitHub and the job engine: one short write to a place of their own, so that a burst waits for nobody.

The engine takes seconds to store a job while it works on dozens of others; GitHub gives ten. What lies here becomes a job as soon
as the engine has taken it, and is removed only then: after a crash the next process goes on with what is left.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from typing import TypeVar

from sqlalchemy import Connection, Engine, text

from bot.job import Job
from bot.tables import opened

_TABLE = "CREATE TABLE IF NOT EXISTS preflight_inbox (delivery VARCHAR(300) PRIMARY KEY, added DOUBLE PRECISION NOT NULL, job TEXT NOT NULL)"
_PUT = "INSERT INTO preflight_inbox (delivery, added, job) VALUES (:delivery, :added, :job) ON CONFLICT (delivery) DO NOTHING"
_LEFT = "SELECT job FROM preflight_inbox WHERE added < :before ORDER BY added, delivery"
_AGE = "SELECT COUNT(*), MIN(added) FROM preflight_inbox"
_REMOVE = "DELETE FROM preflight_inbox WHERE delivery = :delivery"

_Answer = TypeVar("_Answer")


@dataclass(slots=True)
class Inbox:
    """The table in the database at ``url`` ("sqlite:///…" or "postgresql://…"), which one thread of this process writes."""

    url: str = field(repr=False)
    _engine: Engine | None = None
    _arrived: dict[str, dict[str, object]] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "inbox"))

    async def put(self, job: Job) -> Job:
        """Store ``job`` with the time it came; one of the same delivery that lies here already is left as it is."""
        came = replace(job, added=time.time())
        self._arrived[came.key] = {"delivery": came.key, "added": came.added, "job": json.dumps(asdict(came))}
        async with self._turn:  # whoever waits for it is written with the next: one commit for all of them
            if came.key in self._arrived:
                await self._write()
        return came

    async def _write(self) -> None:
        """Write all that has arrived; what could not be written is tried again by whoever waits behind."""
        rows, self._arrived = self._arrived, {}
        try:
            await self._run(lambda connection: connection.execute(text(_PUT), list(rows.values())))
        except BaseException:
            self._arrived = rows | self._arrived
            raise

    async def left(self, before: float) -> tuple[Job, ...]:
        """What came ``before`` (seconds since the epoch) and is still here, the oldest first."""
        rows = await self._run(lambda connection: connection.execute(text(_LEFT), {"before": before}).all())
        return tuple(Job(**json.loads(job)) for (job,) in rows)

    async def remove(self, job: Job) -> None:
        """The engine has ``job`` now."""
        await self._run(lambda connection: connection.execute(text(_REMOVE), {"delivery": job.key}))

    async def waiting(self) -> tuple[int, float | None]:
        """How many deliveries lie here, and when the oldest came (seconds since the epoch)."""
        count, oldest = await self._run(lambda connection: connection.execute(text(_AGE)).one())
        return count, oldest

    def close(self) -> None:
        """Let go of the database."""
        self._thread.shutdown()
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    async def _run(self, ask: Callable[[Connection], _Answer]) -> _Answer:
        def asked() -> _Answer:
            with self._begun() as connection:
                return ask(connection)

        return await asyncio.get_running_loop().run_in_executor(self._thread, asked)

    def _begun(self) -> AbstractContextManager[Connection]:
        if self._engine is None:
            self._engine = opened(self.url, _TABLE)
        return self._engine.begin()
