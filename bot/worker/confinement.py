"""What a worker denies itself before it reads the first byte of foreign code.

Limits on memory, CPU time, files and their size hold everywhere. The network is cut off by namespaces of its own
where the kernel lets an ordinary user make them; elsewhere (some containers) the deployment has to cut it off, and
the worker holds nothing that would be worth sending: its environment is empty, its only open files are pipes, and
``landlock`` keeps it from the rest of the disk.
"""

from __future__ import annotations

import ctypes
import os
import resource
from pathlib import Path

from bot.worker.landlock import shut_in

_NEW_USER = 0x10000000  # CLONE_NEWUSER of linux/sched.h; os.unshare exists from Python 3.12 on
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_OPEN_FILES = 64


def confine(cpu_seconds: int, memory_bytes: int, *readable: Path) -> bool:
    """Apply the limits; gives whether the network is cut off. The folders ``readable`` can be read beside Python and our code."""
    _limit(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)  # SIGXCPU first, which names the reason; SIGKILL a second later
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    os.umask(0o077)
    cut_off = _without_network()
    shut_in(*readable)
    return cut_off


def _limit(kind: int, soft: int, hard: int | None = None) -> None:
    """Lower the limit, never raise it: an outer limit may be stricter."""
    _, outer = resource.getrlimit(kind)
    wanted = (soft, soft if hard is None else hard)
    resource.setrlimit(kind, wanted if outer == resource.RLIM_INFINITY else (min(wanted[0], outer), min(wanted[1], outer)))


def _without_network() -> bool:
    try:
        unshare = ctypes.CDLL(None, use_errno=True).unshare
    except (OSError, AttributeError):  # not Linux
        return False
    return bool(unshare(_NEW_USER | _NEW_NETWORK) == 0)
