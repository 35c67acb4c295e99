"""Where what reviews leave for the next one lies: a file for each repository, beside the blobs of its installation and removed with them."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot import own_code
from bot.github.cache import write_whole
from bot.review.kept import merged


@dataclass(frozen=True, slots=True)
class KeptStore:
    """What is kept of one repository (by its id) in ``folder``, the cache of the installation."""

    folder: Path
    repository: int

    async def read(self) -> bytes:
        """All of it; b"" where there is nothing, or only what other code has made."""
        return await asyncio.to_thread(self._read)

    async def add(self, new: dict[str, Any]) -> None:
        """Keep what a review has added. Of two that end at once one may be forgotten: it will be read again."""
        if new:
            await asyncio.to_thread(lambda: write_whole(self._path, merged(self._read(), new)))

    def _read(self) -> bytes:
        try:
            raw = self._path.read_bytes()
        except FileNotFoundError:
            return b""
        with suppress(FileNotFoundError):
            os.utime(self._path)  # it is in use
        return raw

    @property
    def _path(self) -> Path:
        return self.folder / "kept" / f"{self.repository}-{own_code.version()}.json"
