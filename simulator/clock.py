"""The simulator's time: it runs with the real clock until a test moves it forward.

Tokens last an hour and an App's JWT ten minutes; nobody waits that long in a test.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class Clock:
    """The current time in UTC, which can be moved forward."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        """The current time, with whatever was added to it."""
        return datetime.now(UTC) + self._ahead

    def advance(self, seconds: float) -> None:
        """Move the time forward by so many seconds."""
        self._ahead += timedelta(seconds=seconds)


def iso(moment: datetime) -> str:
    """A moment as GitHub writes it: `2026-01-31T12:00:00Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
