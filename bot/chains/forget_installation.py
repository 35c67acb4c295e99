"""An installation that is gone takes what was kept of its repositories with it."""

from __future__ import annotations

import asyncio
import shutil

from bot.job import Chain, Json, Outcome, Step
from bot.workplace import Workplace


def forget_chain(place: Workplace) -> Chain:
    """Removes the cache of one installation."""

    async def forget(facts: Json) -> Outcome:
        await asyncio.to_thread(shutil.rmtree, place.cache_folder(facts["installation"]), ignore_errors=True)
        return Outcome("done")

    async def failed(_facts: Json, _reason: str) -> None:
        return  # nobody is waiting for an answer

    return Chain((Step("forget", forget),), failed)
