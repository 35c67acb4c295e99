"""Python's search for cycles, made seldom while much is built: syntax trees and traces are large, live long and hold few cycles.

With the usual thresholds half the time of reading a repository goes into it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: New objects until the youngest are searched, and rounds until the next generation is.
_THRESHOLDS = (100_000, 20, 100)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Search seldom until the block, or the decorated function, ends; where it is off already it stays off."""
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
