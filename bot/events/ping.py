"""``ping``: GitHub asks whether anybody is there."""

from __future__ import annotations

from bot.events.payload import Ignored
from bot.job import Job, Json

EVENT = "ping"


def job(_delivery: str, _payload: Json) -> Job | Ignored:
    """Nothing but the answer."""
    return Ignored("pong")
