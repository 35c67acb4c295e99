"""Deliveries that failed while nobody could answer: GitHub keeps them for some days and does not repeat them by itself.

Each failed attempt is asked for once more. One that did arrive in the meantime has the same GUID, so it is not worked twice.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from bot.events import handlers
from bot.github.app import App, FailedDelivery
from bot.metrics import Metrics

#: GitHub offers a delivery again for three days.
_WINDOW_SECONDS = 3 * 86_400
#: A delivery that fails this often is not mended by another try.
_MOST_ATTEMPTS = 4

log = logging.getLogger(__name__)


@dataclass(slots=True)
class CatchUp:
    """Remembers which attempts it has answered with another; after a restart one more is made, which does no harm."""

    app: App
    metrics: Metrics
    _answered: set[int] = field(default_factory=set)

    async def redeliver(self) -> None:
        """Ask for every failed delivery of the last days that means something to us."""
        failed = await self.app.failed_deliveries(since=time.time() - _WINDOW_SECONDS)
        self._answered &= {attempt.id for attempt in failed}
        for attempt in lost(failed, handlers()):
            if attempt.id not in self._answered:
                await self.app.redeliver(attempt.id)
                self._answered.add(attempt.id)
                self.metrics.redeliveries.add(event=attempt.event)
                log.info("asked for delivery %s (%s) again", attempt.guid, attempt.event)


def lost(failed: Collection[FailedDelivery], events: Collection[str]) -> list[FailedDelivery]:
    """The newest failed attempt of each delivery that is worth another, oldest delivery first: the order in which things happened."""
    attempts = Counter(attempt.guid for attempt in failed)
    newest: dict[str, FailedDelivery] = {}
    for attempt in sorted(failed, key=_moment):
        if attempt.event in events and attempts[attempt.guid] < _MOST_ATTEMPTS:
            newest[attempt.guid] = attempt
    return list(newest.values())


def _moment(attempt: FailedDelivery) -> tuple[datetime, int]:
    return attempt.at, attempt.id
