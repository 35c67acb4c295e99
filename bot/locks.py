"""One at a time: a replaced job's last step ends while the newer job has begun, and the two must not write the same thing twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary


@dataclass(frozen=True, slots=True)
class Locks:
    """Locks by name within this process; one that nobody holds or waits for is forgotten."""

    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[None]:
        """Wait until nobody else of this process is inside under ``name``."""
        lock = self._locks.get(name)
        if lock is None:
            lock = self._locks[name] = asyncio.Lock()
        async with lock:
            yield
