"""Where jobs are stored: here an SQLite file that one process holds alone; ``bot.postgres`` is for several."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from dbos import DBOSConfig, DBOSPortableJSONSerializer

from bot.locks import Locks

#: The steps of stored jobs keep their meaning under this name; the default, a hash of the code, would strand them at a deploy.
_VERSION = "1"
_THREADS = 32
#: One writes at a time anyway: more would only wait for the file, each with a cache of its own.
_CONNECTIONS = 8
_CACHE_KIBIBYTES = 256
_STATEMENTS = 16


class DatabaseUnavailableError(Exception):
    """The storage cannot be had; the message says why."""


class DatabaseTakenError(DatabaseUnavailableError):
    """Another process works on this database file."""


class Database(Protocol):
    """Holds the storage for the life of the process; ``shared`` with other processes or not."""

    @property
    def shared(self) -> bool:
        """Whether jobs may belong to other processes."""

    def open(self) -> None:
        """Take the storage. Raises DatabaseUnavailableError."""

    def close(self) -> None:
        """Let go of the storage."""

    def config(self) -> DBOSConfig:
        """How DBOS reaches it."""

    def dead(self, executors: Collection[str]) -> list[str]:
        """Those of ``executors`` whose process is gone, so that their jobs are anybody's."""

    def alone(self, name: str) -> AbstractAsyncContextManager[None]:
        """Holds everybody else up who would be alone under ``name``, in whatever process."""


class FrugalConnection(sqlite3.Connection):
    """Keeps few pages of its file: SQLite's own two megabytes for each connection are filled as the history grows."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute(f"PRAGMA cache_size=-{_CACHE_KIBIBYTES}")


@dataclass(slots=True)
class SQLite:
    """One file, one process: a lock beside it says so, and every unfinished job in it is ours to resume."""

    path: Path
    shared: bool = False
    _lock: IO[str] | None = None
    _locks: Locks = field(default_factory=Locks)

    def open(self) -> None:
        """Lock the file and switch it to write-ahead logging: the default journal holds webhooks up for seconds in a burst."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(Path(f"{self.path}.lock"))
            with closing(sqlite3.connect(self.path)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
        except BlockingIOError as error:
            raise DatabaseTakenError(f"{self.path} is in use by another process; several need PREFLIGHT_DATABASE_URL=postgresql://…") from error
        except (OSError, sqlite3.Error) as error:
            self.close()
            raise DatabaseUnavailableError(f"The job database {self.path} cannot be opened: {error}") from error

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def config(self) -> DBOSConfig:
        """The lock makes a fixed executor safe: at launch DBOS resumes all that the former process left."""
        found = configuration(f"sqlite:///{self.path}", "alone")
        found["sys_db_pool_size"] = _CONNECTIONS
        found["db_engine_kwargs"] = {"connect_args": {"factory": FrugalConnection, "cached_statements": _STATEMENTS}}
        return found

    def dead(self, executors: Collection[str]) -> list[str]:  # there are no others
        """None: the lock keeps other processes out."""
        return []

    def alone(self, name: str) -> AbstractAsyncContextManager[None]:
        """There is one process, so a lock within it will do."""
        return self._locks.alone(name)


def _locked(path: Path) -> IO[str]:
    lock = path.open("a", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise
    return lock


def configuration(url: str, executor: str) -> DBOSConfig:
    """DBOS's configuration for the database at ``url``, in the name of ``executor``."""
    # DBOS would take a name from its own cloud's environment before ours.
    os.environ.pop("DBOS__VMID", None)
    return DBOSConfig(
        name="preflight-bot",
        system_database_url=url,
        executor_id=executor,
        application_version=_VERSION,
        serializer=DBOSPortableJSONSerializer(),
        max_executor_threads=_THREADS,
        log_level="WARNING",
    )
