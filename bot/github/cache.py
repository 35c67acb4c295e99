"""Blobs and trees on disk, by installation and hash: what was read once is not read again, and never across customers.

The name of an entry is the hash of its content, so it is checked on reading and cannot go stale. Entries that nobody
has read for ``KEEP_DAYS`` are removed.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

KEEP_DAYS = 14
_DAY_SECONDS = 86_400
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def blob_sha(content: bytes, like: str) -> str:
    """Git's name for ``content``, by the hash function of the name ``like`` (SHA-1 or SHA-256)."""
    data = b"blob %d\0%b" % (len(content), content)
    sha1 = 40
    return hashlib.sha1(data, usedforsecurity=False).hexdigest() if len(like) == sha1 else hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class BlobCache:
    """The cache of one installation under ``folder``."""

    folder: Path

    def get(self, sha: str) -> bytes | None:
        """The blob's content, if it is here and whole; reading it keeps it."""
        path = self._path(sha)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        if blob_sha(content, sha) != sha:
            path.unlink(missing_ok=True)
            return None
        with suppress(FileNotFoundError):
            os.utime(path)
        return content

    def has(self, sha: str) -> bool:
        """Whether the blob is here."""
        return self._path(sha).exists()

    def put(self, content: bytes, like: str = "0" * 40) -> str:
        """Keep ``content`` and give its name."""
        sha = blob_sha(content, like)
        write_whole(self._path(sha), content)
        return sha

    def _path(self, sha: str) -> Path:
        if not _SHA.fullmatch(sha):
            raise ValueError(f"not the name of a blob: {sha!r}")
        return self.folder / "blobs" / sha[:2] / sha


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is either absent or whole, whatever happens on the way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def remove_unused(folder: Path, now: float | None = None) -> int:
    """Remove entries that were not read for ``KEEP_DAYS``; gives how many."""
    limit = (time.time() if now is None else now) - KEEP_DAYS * _DAY_SECONDS
    removed = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file() and path.stat().st_mtime < limit:
                path.unlink()
                removed += 1
    return removed
