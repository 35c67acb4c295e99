"""Repositories that the App was taken off take with them what was kept of them."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterable

from bot.history import erase
from bot.job import Chain, Json, Outcome, Step
from bot.workplace import Workplace


def forget_chain(place: Workplace, kinds: Iterable[str]) -> Chain:
    """Removes the installation's cache and the jobs of ``kinds`` about its gone repositories.

    The cache names contents by hash alone, so it goes as a whole: what the other repositories need is read again.
    """
    of_repositories = tuple(kinds)

    async def forget(facts: Json) -> Outcome:
        await asyncio.to_thread(shutil.rmtree, place.cache_folder(facts["installation"]), ignore_errors=True)
        await erase(of_repositories, facts["repositories"])
        await place.ledger.forget(facts["repositories"])
        return Outcome("done")

    async def failed(_facts: Json, _reason: str) -> None:
        return  # nobody is waiting for an answer

    return Chain((Step("forget", forget),), failed)
