"""How often a process that reads, answers and ends looks for garbage: seldom, since the syntax trees it would look through stay to the end."""

from __future__ import annotations

import gc

#: New objects before the young are looked at, and how many such looks come before one at the next older ones.
_SELDOM = (1_000_000, 20, 20)


def collect_seldom() -> None:
    """From now on, for the whole process."""
    gc.set_threshold(*_SELDOM)
