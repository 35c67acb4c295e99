"""One reference beside what is estimated for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """``truth``: bytes allocated at the peak; ``device``: with what the allocator reserves and the context, where it is known.

    ``ours`` and ``peer`` hold ``allocated``, ``allocated_interval`` and ``interval`` in bytes, or ``why`` there are none; ``peer`` is None
    where it was not run.
    """

    group: str
    name: str
    truth: int
    device: int | None
    ours: dict[str, Any]
    peer: dict[str, Any] | None
    parameters: int | None

    @property
    def error(self) -> float | None:
        """How far the estimate is off, as a share of the truth."""
        return None if "allocated" not in self.ours else self.ours["allocated"] / self.truth - 1

    @property
    def peer_error(self) -> float | None:
        """How far the peer is off, as a share of the truth."""
        return None if self.peer is None or "allocated" not in self.peer else self.peer["allocated"] / self.truth - 1

    @property
    def covered(self) -> bool:
        """Whether the interval holds the truth."""
        low, high = self.ours.get("allocated_interval", (1, 0))
        return bool(low <= self.truth <= high)

    @property
    def width(self) -> float:
        """The interval's width as a share of the truth."""
        low, high = self.ours["allocated_interval"]
        return float((high - low) / self.truth)

    def said(self) -> str:
        """A line for the terminal."""
        found = self.ours.get("why", "not resolved") if self.error is None else f"{self.error:+.2%}"
        return f"{found:>9}  {self.group}: {self.name}"

    def as_json(self) -> dict[str, Any]:
        """For a file."""
        return {**asdict(self), "error": self.error}
