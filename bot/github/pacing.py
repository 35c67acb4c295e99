"""Patience with GitHub: reads are repeated, limits are waited out, writes go one by one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from bot.github.errors import RateLimitedError, TransientError
from bot.github.transport import Answer
from bot.settings import Pace

_ATTEMPTS = 4
#: Of as many processes as will ever share a database.
_LONGEST_TURN_SECONDS = 20.0

Send = Callable[[], Awaitable[Answer]]


class Elsewhere(Protocol):
    """What other processes write in the name of an installation."""

    async def reserve(self, installation: int, interval: float) -> float:
        """Seconds until this process may write."""

    async def rest(self, installation: int, seconds: float) -> None:
        """Let the others write nothing for so long."""


@dataclass(slots=True)
class Turn:
    """One content write at a time, at least ``interval`` seconds apart, as GitHub asks; and none of any kind where it asked to wait.

    ``elsewhere`` are the other processes that write in the name of the ``installation``, where there are any.
    """

    interval: float
    installation: int = 0
    elsewhere: Elsewhere | None = None
    _rests_until: float = float("-inf")
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _last: float = float("-inf")

    async def rest(self, seconds: float) -> None:
        """GitHub refused a request for its rate: whoever goes on asking may be shut out."""
        self._rests_until = max(self._rests_until, time.monotonic() + seconds)
        if self.elsewhere is not None:
            await self.elsewhere.rest(self.installation, seconds)

    def require_awake(self) -> None:
        """Raise RateLimitedError with what is left of the time that GitHub asked for."""
        left = self._rests_until - time.monotonic()
        if left > 0:
            raise RateLimitedError("GitHub asked this installation to wait", left)

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Hold the turn. Raises RateLimitedError where another process was told to wait."""
        async with self._lock:
            await asyncio.sleep(max(0.0, self._last + self.interval - time.monotonic()))
            await self._others()
            try:
                yield
            finally:
                self._last = time.monotonic()

    async def _others(self) -> None:
        """Wait until no other process has the turn; longer than all of them would take together is a rest that GitHub asked for."""
        if self.elsewhere is None:
            return
        wait = await self.elsewhere.reserve(self.installation, self.interval)
        if wait > _LONGEST_TURN_SECONDS:
            self._rests_until = max(self._rests_until, time.monotonic() + wait)
            self.require_awake()
        await asyncio.sleep(wait)


async def repeated_read(pace: Pace, send: Send) -> Answer:
    """``send`` again after a broken line or 5xx, with growing pauses. Raises what the last try raised, and a long rate limit at once."""
    for attempt in range(1, _ATTEMPTS):
        try:
            return await waiting_out(pace, send)
        except TransientError:
            await asyncio.sleep(pace.retry * 2 ** (attempt - 1))
    return await waiting_out(pace, send)


async def waiting_out(pace: Pace, send: Send) -> Answer:
    """``send``, again after a short wait where GitHub refused it for its rate: then nothing happened, so a write may go again."""
    for _ in range(1, _ATTEMPTS):
        try:
            return await send()
        except RateLimitedError as error:
            if error.seconds > pace.short_wait:
                raise
            await asyncio.sleep(error.seconds)
    return await send()
