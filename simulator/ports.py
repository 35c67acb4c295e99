"""A port for a server that may be stopped and started again on the same one."""

from __future__ import annotations

import random
import socket
from contextlib import suppress

# Below those that systems deal out to connections (from 32768 on Linux): one of them could take the port while its server is down.
_PORTS = range(12_000, 30_000)


def free_port() -> int:
    """A port of this machine that nobody listens on now."""
    while True:
        port = random.choice(_PORTS)  # noqa: S311 - not a secret
        with socket.socket() as free, suppress(OSError):
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", port))
            return port
