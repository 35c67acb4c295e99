"""What a worker can reach of the disk, of TCP and of other processes, where Linux has Landlock (5.13 and later).

It reads Python, our code and the folders that it is given, no more. The numbers are those of linux/landlock.h; newer kernels can forbid more, so what
is asked for goes by the version that they tell.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_TELL_VERSION = 1
_BENEATH_PATH = 1
_NO_NEW_PRIVILEGES = 38  # PR_SET_NO_NEW_PRIVS of linux/prctl.h

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = (1 << bit for bit in range(4))
#: The version that first knew so many rights on files: moving between folders, truncating, and controlling devices came later.
_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 5: 16}
_TCP_SINCE, _SCOPES_SINCE = 4, 6
_BIND_AND_CONNECT = 0b11
_SOCKETS_AND_SIGNALS = 0b11

#: A fork of the worker has these for its standard streams; the machine's load decides whether there is one.
_FILES = {os.devnull: _READ_FILE | _WRITE_FILE, "/dev/urandom": _READ_FILE, "/proc/loadavg": _READ_FILE, "/etc/ld.so.cache": _READ_FILE}
_SYSTEM_FOLDERS = ("/usr", "/lib", "/lib64")


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def shut_in(*folders: Path) -> bool:
    """Forbid this process and all that it starts everything else but to read ``folders``; gives whether the kernel could."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        version = libc.syscall(_CREATE_RULESET, None, 0, _TELL_VERSION)
    except (OSError, AttributeError):  # not Linux
        return False
    if version < 1:
        return False
    rights = (1 << max(bits for since, bits in _RIGHTS_BY_VERSION.items() if since <= version)) - 1
    wanted = _Ruleset(rights, _BIND_AND_CONNECT if version >= _TCP_SINCE else 0, _SOCKETS_AND_SIGNALS if version >= _SCOPES_SINCE else 0)
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(wanted), ctypes.sizeof(wanted), 0)
    if ruleset < 0:
        return False
    for path, allowed in (*_readable(), *((str(folder), _READ_FILE | _READ_FOLDER) for folder in folders)):
        _allow(libc, ruleset, path, allowed)
    held = libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 and libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return bool(held)


def _readable() -> Iterator[tuple[str, int]]:
    yield from _FILES.items()
    ours = str(Path(__file__).parents[2])
    for folder in {ours, sys.prefix, sys.base_prefix, *filter(None, sys.path), *_SYSTEM_FOLDERS}:
        yield folder, _EXECUTE | _READ_FILE | _READ_FOLDER if Path(folder).is_dir() else _READ_FILE  # a zip of modules


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, allowed: int) -> None:
    with suppress(OSError):  # not on this machine
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            libc.syscall(_ADD_RULE, ruleset, _BENEATH_PATH, ctypes.byref(_Beneath(allowed, parent)), 0)
        finally:
            os.close(parent)
