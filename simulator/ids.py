"""Numbers and opaque node ids for everything the simulator makes."""

from __future__ import annotations

import base64
import itertools


class Ids:
    """Hands out numbers that are never used twice, whatever they are for."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1001)

    def next(self) -> int:
        """A number not handed out before."""
        return next(self._numbers)


def node_id(prefix: str, number: int) -> str:
    """The global id of an object, opaque like GitHub's: `IC_a2lk…`."""
    return f"{prefix}_{base64.urlsafe_b64encode(f'sim:{number}'.encode()).decode().rstrip('=')}"
