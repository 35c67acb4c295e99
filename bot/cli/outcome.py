"""How a command ends: its exit status, and the errors that are the caller's to mend."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The exit status of every command."""

    OK = 0
    FOUND = 1  # findings at the level that fails, or no card that fits
    USAGE = 2
    INTERNAL = 3
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class UsageError(Exception):
    """What was asked cannot be done; the message is one sentence that names the thing and what to do."""
