"""Faults on demand: what the next matching requests meet instead of a plain answer."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RateLimited:
    """The secondary rate limit: 403 or 429; with `retry_after` (seconds) the header of that name."""

    status: int = 403
    retry_after: int | None = None


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The primary rate limit is used up: 403, `x-ratelimit-remaining: 0`, and a reset so many seconds away."""

    reset_in: int = 60


@dataclass(frozen=True, slots=True)
class BadGateway:
    """A 502, either instead of doing what was asked or after it was done."""

    after_write: bool = False
    status: int = 502


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection closes without an answer, before or after what was asked was done."""

    after_write: bool = False


@dataclass(frozen=True, slots=True)
class Delay:
    """The answer comes so many seconds later."""

    seconds: float


@dataclass(frozen=True, slots=True)
class StaleHead:
    """A pull request is answered with the head that it had before the last push."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """Any other error answer."""

    status: int
    message: str = "Forbidden"


Fault = RateLimited | Exhausted | BadGateway | Drop | Delay | StaleHead | Refuse


@dataclass(slots=True)
class _Planned:
    method: str
    path: re.Pattern[str]
    fault: Fault
    left: int
    skip: int


class Faults:
    """The faults that still wait for their requests."""

    def __init__(self) -> None:
        self._planned: list[_Planned] = []

    def plan(self, method: str, path: str, fault: Fault, *, times: int, skip: int) -> None:
        """Let `times` requests of a method (`*` for any) whose path the regex is found in meet a fault.

        The first `skip` matching requests are let through.
        """
        self._planned.append(_Planned(method.upper(), re.compile(path), fault, times, skip))

    def take(self, method: str, path: str) -> Fault | None:
        """The fault that this request meets, which is used up by it."""
        for planned in self._planned:
            if planned.method not in ("*", method) or not planned.path.search(path):
                continue
            if planned.skip > 0:
                planned.skip -= 1
                continue
            planned.left -= 1
            if planned.left == 0:
                self._planned.remove(planned)
            return planned.fault
        return None

    def clear(self) -> None:
        """Forget all that were not met."""
        self._planned.clear()

    @property
    def waiting(self) -> int:
        """How many requests are still to meet a fault."""
        return sum(planned.left for planned in self._planned)
