"""The GPU memory of a training run, read from its source: configuration, tape, timeline, fit and comparison.

``VRAMGuard`` and ``check_vram`` look at a live model instead; they alone need PyTorch, and it is imported when they are first asked for.
"""

from __future__ import annotations

from typing import Any

#: What ``estimator.guard`` defines and this package hands on.
_OF_THE_GUARD = frozenset({"BorderlineMemoryWarning", "LightningGuard", "LiveEstimate", "OutOfMemoryAheadError", "TrainerGuard", "VRAMGuard", "check_vram"})


def __getattr__(name: str) -> Any:
    """The guard's names, loaded when they are asked for."""
    if name in _OF_THE_GUARD:
        from estimator import guard  # noqa: PLC0415  imports torch

        return getattr(guard, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
