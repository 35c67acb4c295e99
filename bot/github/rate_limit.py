"""How long GitHub asks us to wait, read from an answer that refuses."""

from __future__ import annotations

from collections.abc import Mapping

#: What GitHub's documentation asks for where a secondary limit names no time.
_UNNAMED_SECONDS = 60.0
#: A reset further away than this is a clock that is wrong, not a limit.
_MAX_SECONDS = 3_700.0


def seconds_to_wait(status: int, headers: Mapping[str, str], body: str, now: float) -> float | None:
    """Seconds until the next try, or None where the answer is no rate limit. ``now`` is in seconds since the epoch."""
    if status not in {403, 429}:
        return None
    if "Retry-After" in headers:
        return _bounded(headers["Retry-After"], 0.0)
    if headers.get("X-RateLimit-Remaining") == "0":
        return _bounded(headers.get("X-RateLimit-Reset", ""), now)
    if status == 429 or "rate limit" in body.lower():  # noqa: PLR2004  # Too Many Requests
        return _UNNAMED_SECONDS
    return None


def _bounded(text: str, origin: float) -> float:
    try:
        seconds = float(text) - origin
    except ValueError:
        return _UNNAMED_SECONDS
    return min(max(seconds, 1.0), _MAX_SECONDS) if seconds == seconds else _UNNAMED_SECONDS  # noqa: PLR0124  # NaN
