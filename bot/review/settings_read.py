"""What the estimate was told by the source: settings that the change moved, and values that were assumed."""

from __future__ import annotations

from typing import Any

from analysis.certainty import Assumed, Certainty, Known, Place, Unknown
from bot.review.text import code, plain, prose
from estimator.compare import compare
from estimator.estimate import Estimate


def moved_settings(base: Estimate, head: Estimate) -> list[str]:
    """Sentences such as "batch size 8 → 64 (`train.py:12`)"."""
    return [f"{_label(moved.name)} {_value(moved.base)} → {_value(moved.head)}{_place(moved.place)}" for moved in compare(base, head).settings]


def assumptions(estimate: Estimate) -> list[str]:
    """Sentences such as "sequence length 1024: …why…", in the order of the configuration."""
    return [f"{_label(name)} {_value(value)}: {prose(value.why)}" for name, value in estimate.config.items() if isinstance(value, Assumed)]


def setting_lines(estimate: Estimate) -> list[str]:
    """Every setting that the source tells, with the line it was read from."""
    return [
        f"{_label(name)} {_value(value)}{_place(value.because)}"
        for name, value in estimate.config.items()
        if isinstance(value, Known) and value.because is not None
    ]


def _label(name: str) -> str:
    return name.replace("_", " ")


def _value(value: Certainty[Any]) -> str:
    match value:
        case Known(bool() as chosen) | Assumed(bool() as chosen):
            return "on" if chosen else "off"
        case Known(int() as number) | Assumed(int() as number):
            return str(number)
        case Known(other) | Assumed(other):
            return plain(str(other))
        case Unknown():
            return "unknown"


def _place(place: Place | None) -> str:
    return f" ({code(str(place))})" if place is not None else ""
