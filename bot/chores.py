"""Work that is due again and again beside the jobs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

log = logging.getLogger(__name__)


async def every(seconds: float, chore: Callable[[], Awaitable[None]], *, first: float = 0.0) -> None:
    """Do ``chore`` again and again, ``first`` seconds from now for the first time; a failure is logged and ends nothing."""
    await asyncio.sleep(first)
    while True:
        try:
            await chore()
        except Exception:
            log.exception("%s failed; trying again in %g s", chore.__name__, seconds)
        await asyncio.sleep(seconds)
