"""Waiting for what happens elsewhere: a claim is asked again until it holds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


async def until(claim: Callable[[], object | Awaitable[object]], seconds: float = 60.0) -> None:
    """Wait until ``claim`` holds."""
    for _ in range(int(seconds / 0.02)):
        value = claim()
        if await value if isinstance(value, Awaitable) else value:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not happen in time")
