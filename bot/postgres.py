"""Jobs in Postgres, for several processes: each holds a lock in its own name, and whose lock is free is dead.

DBOS leaves the jobs of a killed process pending for ever. Here the others notice within seconds and go on with them.
The locks are advisory ones of a session, so they need a direct connection (no pooling by transaction).
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import uuid
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from dbos import DBOSConfig

from bot.database import DatabaseUnavailableError, configuration
from bot.locks import Locks

#: Held at once for those who write alone; a server takes a hundred from all processes unless told otherwise.
_MOST_SESSIONS = 24
_NAMESPACE = b"preflight executor "


def _executor() -> str:
    """A name that no other start of any process has; "local", the default, would strand jobs at a deploy."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


@dataclass(slots=True)
class Postgres:
    """One process of several on the database at ``url``."""

    url: str = field(repr=False)
    executor: str = field(default_factory=_executor)
    shared: bool = True
    _session: psycopg.Connection[Any] | None = None
    _locks: Locks = field(default_factory=Locks)
    _sessions: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_MOST_SESSIONS))

    def open(self) -> None:
        """Take the lock that says this process lives. Raises DatabaseUnavailableError."""
        try:
            self._alive()
        except psycopg.Error as error:
            raise DatabaseUnavailableError(f"The job database cannot be reached: {str(error).strip().splitlines()[0]}") from error

    def close(self) -> None:
        """Let go of it: what is still pending may be taken over."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def config(self) -> DBOSConfig:
        """How DBOS reaches the database; SQLAlchemy names the driver in the address."""
        return configuration(self.url.replace("postgresql://", "postgresql+psycopg://", 1), self.executor)

    def dead(self, executors: Collection[str]) -> list[str]:
        """Those of ``executors`` whose process is gone: their lock can be taken."""
        session = self._alive()
        return [executor for executor in sorted(set(executors) - {self.executor}) if _is_free(session, executor)]

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[None]:
        """A lock that the database lets go of when its session ends, so that a process which dies holds nobody up.

        Raises ConnectionError where the database cannot be reached.
        """
        async with self._locks.alone(name), self._sessions:
            try:
                session = await psycopg.AsyncConnection.connect(self.url, autocommit=True)
                await session.execute("SELECT pg_advisory_lock(%s)", [_key(f"alone {name}")])
            except psycopg.OperationalError as error:
                raise ConnectionError(f"the database: {error}") from error
            try:
                yield
            finally:
                await session.close()

    def _alive(self) -> psycopg.Connection[Any]:
        """The session that holds our lock, opened again if it was lost: until then others may take our jobs over."""
        if self._session is None or self._session.closed or self._session.broken:
            self._session = psycopg.connect(self.url, autocommit=True)
            self._session.execute("SELECT pg_advisory_lock(%s)", [_key(self.executor)])
        return self._session


def _is_free(session: psycopg.Connection[Any], executor: str) -> bool:
    row = session.execute("SELECT pg_try_advisory_lock(%s)", [_key(executor)]).fetchone()
    free = bool(row and row[0])
    if free:
        session.execute("SELECT pg_advisory_unlock(%s)", [_key(executor)])
    return free


def _key(executor: str) -> int:
    """All 64 bits that a lock's name has: of two that collide a dead one would look alive."""
    return int.from_bytes(hashlib.sha256(_NAMESPACE + executor.encode()).digest()[:8], "big", signed=True)
