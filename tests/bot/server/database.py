"""A PostgreSQL server of the tests' own that can be stopped and started again; it refuses to run as root."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from simulator.ports import free_port

IS_INSTALLED = shutil.which("initdb") is not None or Path("/usr/lib/postgresql").is_dir()


@dataclass(slots=True)
class Server:
    """A server with one empty database, in a folder that anybody may enter."""

    folder: Path
    port: int = field(default_factory=free_port)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"{self._server}/jobs"

    @property
    def _server(self) -> str:
        return f"postgresql://preflight@127.0.0.1:{self.port}"

    def create(self) -> None:
        if not os.geteuid():
            shutil.chown(self.folder, "postgres")
        command = [_programs() / "initdb", "-D", self.folder / "data", "-U", "preflight", "-A", "trust"]
        subprocess.run(command, check=True, capture_output=True, **_user())
        self.start()
        _connected(f"{self._server}/postgres").execute("CREATE DATABASE jobs")

    def start(self) -> None:
        command = [_programs() / "postgres", "-D", self.folder / "data", "-p", str(self.port), "-k", str(self.folder), "-h", "127.0.0.1", "-F"]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL, **_user())
        _connected(f"{self._server}/postgres").close()

    def stop(self) -> None:
        """Cut every session off and end, as an administrator's restart does."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(timeout=30)
            self._process = None


def _user() -> dict[str, Any]:
    return {} if os.geteuid() else {"user": "postgres", "group": pwd.getpwnam("postgres").pw_gid, "extra_groups": []}


def _programs() -> Path:
    found = shutil.which("initdb")
    return Path(found).parent if found else max(Path("/usr/lib/postgresql").glob("*/bin"))


def _connected(address: str) -> psycopg.Connection[Any]:
    """A connection, once the server takes one."""
    for _ in range(300):
        try:
            return psycopg.connect(address, autocommit=True)
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise AssertionError("PostgreSQL did not start")
