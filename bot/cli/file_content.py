"""The bytes of one file of a working tree, or why there are none. Never waits, never leaves the root."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from analysis.source import MAX_BYTES, NotAnalysed


def read_file(root: Path, path: str, limit: int = MAX_BYTES) -> bytes | NotAnalysed:
    """The file's bytes, of which ``limit`` plus one are enough for the analysis to say that it is too large."""
    full = root / path
    try:
        if full.is_symlink() and not full.resolve(strict=True).is_relative_to(root.resolve()):
            return NotAnalysed(path, "is a link out of the repository, which is not followed")
        descriptor = os.open(full, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, RuntimeError) as error:
        return NotAnalysed(path, f"cannot be read: {_reason(error)}")
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return NotAnalysed(path, "is not a regular file")
        try:
            return stream.read(limit + 1)
        except OSError as error:
            return NotAnalysed(path, f"cannot be read: {_reason(error)}")


def _reason(error: OSError | RuntimeError) -> str:
    """The system's own words; before Python 3.13 a loop of links is a RuntimeError."""
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else "it is a loop of links"
