"""The primary rate limit: a window of an hour for each installation, shown in headers of every answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from simulator.errors import ApiError

if TYPE_CHECKING:
    from simulator.platform import Platform

_WINDOW = timedelta(hours=1)


@dataclass(slots=True)
class _Window:
    used: int
    resets_at: datetime


class RateLimits:
    """How much of its hour each caller has used."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._windows: dict[tuple[str, str], _Window] = {}

    def spend(self, caller: str, resource: str, cost: int = 1) -> None:
        """Count a request.

        Raises:
            ApiError: 403, the hour is used up.

        """
        window = self._window(caller, resource)
        if window.used + cost > self._platform.limits.requests_per_hour:
            raise ApiError(403, f"API rate limit exceeded for installation ID {caller}.", headers=self.headers(caller, resource))
        window.used += cost

    def give_back(self, caller: str, resource: str) -> None:
        """Do not count a request after all: its answer had not changed."""
        self._window(caller, resource).used -= 1

    def headers(self, caller: str, resource: str) -> dict[str, str]:
        """The `x-ratelimit-*` headers as they stand."""
        return {f"x-ratelimit-{name}": str(value) for name, value in self.state(caller, resource).items()} | {"x-ratelimit-resource": resource}

    def state(self, caller: str, resource: str) -> dict[str, int]:
        """Limit, remaining, reset (seconds since 1970) and used."""
        window = self._window(caller, resource)
        limit = self._platform.limits.requests_per_hour
        return {
            "limit": limit,
            "remaining": limit - window.used,
            "reset": int(window.resets_at.timestamp()),
            "used": window.used,
        }

    def _window(self, caller: str, resource: str) -> _Window:
        now = self._platform.clock.now()
        window = self._windows.get((caller, resource))
        if window is None or window.resets_at <= now:
            window = _Window(0, now + _WINDOW)
            self._windows[caller, resource] = window
        return window
