"""An estimate with its paths as seen from the working directory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from analysis.certainty import Certainty, Place
from estimator.estimate import Estimate


def renamed(estimate: Estimate, shown: Callable[[str], str]) -> Estimate:
    """``estimate`` with its entry point and every place as ``shown`` gives it."""

    def place(of: Place | None) -> Place | None:
        return None if of is None else Place(shown(of.path), of.line)

    def setting(value: Certainty[Any]) -> Certainty[Any]:
        return replace(value, because=place(value.because))

    config = replace(estimate.config, **{name: setting(value) for name, value in estimate.config.items()})
    memory = estimate.memory
    if memory is not None:
        held = tuple(replace(holder, place=Place(shown(holder.place.path), holder.place.line)) for holder in memory.largest)
        memory = replace(memory, largest=held)
    return replace(estimate, entry=shown(estimate.entry), config=config, memory=memory)
