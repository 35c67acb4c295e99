"""The words and units that the text and the Markdown of an estimate share."""

from __future__ import annotations

from typing import Any

from analysis.certainty import Assumed, Certainty, Known, Unknown
from estimator.estimate import Components, Estimate, Memory, Verdict

GIB = 1 << 30
MIB = 1 << 20
KIB = 1 << 10

VERDICT_WORDS = {
    Verdict.FITS: "fits",
    Verdict.BORDERLINE: "borderline",
    Verdict.DOES_NOT_FIT: "does not fit",
    Verdict.CANNOT_TELL: "cannot tell",
}

_PEAK_WORDS = {"forward": "the forward pass", "backward": "the backward pass", "optimizer_step": "the optimizer step", "decode": "decoding"}


def size(count: int) -> str:
    """``count`` bytes for reading, in binary units as nvidia-smi counts: "11.2 GiB" or "870 MiB"; "0" stays "0"."""
    if count == 0:
        return "0"
    if abs(count) < MIB:
        return f"{count / KIB:.0f} KiB"
    return f"{count / MIB:.0f} MiB" if abs(count) < GIB * 0.95 else f"{count / GIB:.1f} GiB"


def words(name: str) -> str:
    """A field's name as words."""
    return name.replace("_", " ")


def peak_phase(memory: Memory) -> str:
    """When the peak is reached, with its article."""
    return _PEAK_WORDS.get(memory.peak_at, words(memory.peak_at))


def parts(components: Components) -> list[tuple[str, int]]:
    """The components that hold something at the peak, the largest first."""
    held = [(words(name), getattr(components, name)) for name in Components.__slots__]
    return sorted((part for part in held if part[1]), key=lambda part: -part[1])


def setting(value: Certainty[Any]) -> str:
    """A setting with where it stands, or why it is assumed or unknown."""
    match value:
        case Known(value=known, because=place):
            return f"{_plain(known)} ({place})" if place else _plain(known)
        case Assumed(value=assumed, why=why):
            return f"{_plain(assumed)}, assumed: {why}"
        case Unknown(why=why):
            return f"unknown: {why}"


def plain(value: Certainty[Any]) -> str:
    """A setting's value alone."""
    return "unknown" if isinstance(value, Unknown) else _plain(value.value)


def shown_settings(estimate: Estimate) -> list[tuple[str, str]]:
    """The settings worth showing, assumptions first: what is unknown is shown only if the model could not be resolved without it."""
    shown = [(name, value) for name, value in estimate.config.items() if not isinstance(value, Unknown) or name == "model"]
    shown.sort(key=lambda pair: not isinstance(pair[1], Assumed))
    return [(words(name), setting(value)) for name, value in shown]


def _plain(value: Any) -> str:
    match value:
        case True:
            return "yes"
        case False:
            return "no"
        case _:
            return str(value)
