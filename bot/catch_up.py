"""Deliveries that failed while nobody could answer: GitHub keeps them for some days and does not repeat them by itself.

Each failed attempt is asked for once more: at once, then, where that failed too, less and less often until GitHub no longer has
it. One that did arrive in the meantime has the same GUID, so it is not worked twice.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.events import handlers
from bot.github.app import App, FailedDelivery
from bot.metrics import Metrics

#: GitHub offers a delivery again for three days.
_WINDOW_SECONDS = 3 * 86_400
#: So often it is asked for at every look; from then on the pause is doubled each time.
_AT_ONCE = 3

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
        for attempt in lost(failed, handlers(), datetime.now(UTC), self.app.settings.pace.catch_up):
            if attempt.id not in self._answered:
                await self.app.redeliver(attempt.id)
                self._answered.add(attempt.id)
                self.metrics.redeliveries.add(event=attempt.event)
                log.info("asked for delivery %s (%s) again", attempt.guid, attempt.event)


def lost(failed: Collection[FailedDelivery], events: Collection[str], now: datetime, pause: float) -> list[FailedDelivery]:
    """The newest failed attempt of each delivery that is due for another, oldest delivery first: the order in which things happened.

    ``pause`` is the time between two looks, in seconds.
    """
    attempts = Counter(attempt.guid for attempt in failed)
    newest = {attempt.guid: attempt for attempt in sorted(failed, key=_moment) if attempt.event in events}
    return [attempt for guid, attempt in newest.items() if now - attempt.at >= _wait(attempts[guid], pause)]


def _wait(attempts: int, pause: float) -> timedelta:
    """From the last of so many failed attempts to the next."""
    return timedelta(seconds=pause * (2 ** min(attempts - _AT_ONCE, 10) - 1) if attempts > _AT_ONCE else 0.0)


def _moment(attempt: FailedDelivery) -> tuple[datetime, int]:
    return attempt.at, attempt.id
