"""Two estimates of one entry point compared: what moved, by how much, which setting on which line moved it, and what fits no more."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from analysis.certainty import Assumed, Certainty, Known, Place, Unknown
from estimator.estimate import Components, Estimate, Memory, Verdict


@dataclass(frozen=True, slots=True)
class ComponentChange:
    """Bytes of one component at the peak, before and after."""

    name: str
    base: int
    head: int

    @property
    def delta(self) -> int:
        """Bytes added; negative where freed."""
        return self.head - self.base


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One field of the configuration that reads differently, with what it was and is."""

    name: str
    base: Certainty[Any]
    head: Certainty[Any]

    @property
    def place(self) -> Place | None:
        """The line of the head that says so; the base's line where the head says nothing."""
        return self.head.because or self.base.because


@dataclass(frozen=True, slots=True)
class HolderChange:
    """What one source line holds at the peak, before and after; lines are matched by file and by what they hold."""

    place: Place
    what: str
    base: int
    head: int

    @property
    def delta(self) -> int:
        """Bytes added; negative where freed."""
        return self.head - self.base


@dataclass(frozen=True, slots=True)
class FitChange:
    """The verdict for one card before and after; None where that side was not estimated for it."""

    gpu: str
    base: Verdict | None
    head: Verdict | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One entry point before and after; what did not move is not listed. Deltas are None where either side is unresolved."""

    entry: str
    base: Estimate | None
    head: Estimate | None
    components: tuple[ComponentChange, ...]  # largest movement first
    settings: tuple[SettingChange, ...]
    holders: tuple[HolderChange, ...]  # largest movement first
    fits: tuple[FitChange, ...]
    peak_delta: int | None
    allocated_delta: int | None

    @property
    def moved(self) -> bool:
        """Whether anything a reader would want to hear of changed."""
        verdicts_moved = any(change.base is not change.head for change in self.fits)
        return bool(self.components or self.settings or verdicts_moved)


def compare(base: Estimate | None, head: Estimate | None) -> Comparison:
    """What ``head`` changes. Either side may be None: an entry point that is new or gone. Raises ``ValueError`` if both are."""
    present = head or base
    if present is None:
        raise ValueError("There is nothing to compare: neither side has an estimate.")
    before = base.memory if base else None
    after = head.memory if head else None
    both = (before, after) if before and after else None
    return Comparison(
        entry=present.entry,
        base=base,
        head=head,
        components=_components(before, after),
        settings=_settings(base, head),
        holders=_holders(before, after),
        fits=_fits(base, head),
        peak_delta=both[1].peak_bytes - both[0].peak_bytes if both else None,
        allocated_delta=both[1].allocated_bytes - both[0].allocated_bytes if both else None,
    )


def _components(base: Memory | None, head: Memory | None) -> tuple[ComponentChange, ...]:
    if base is None or head is None:
        return ()
    names = [field.name for field in fields(Components)]
    changes = [ComponentChange(name, getattr(base.components, name), getattr(head.components, name)) for name in names]
    return tuple(sorted((change for change in changes if change.delta), key=lambda change: -abs(change.delta)))


def _settings(base: Estimate | None, head: Estimate | None) -> tuple[SettingChange, ...]:
    if base is None or head is None:
        return ()
    pairs = zip(base.config.items(), head.config.items(), strict=True)
    return tuple(SettingChange(name, before, after) for (name, before), (_, after) in pairs if _reads(before) != _reads(after))


def _reads(setting: Certainty[Any]) -> tuple[str, Any]:
    """What is said, without the place: a line that only moved is no change."""
    match setting:
        case Known(value=value):
            return "known", value
        case Assumed(value=value):
            return "assumed", value
        case Unknown():
            return "unknown", None


def _holders(base: Memory | None, head: Memory | None) -> tuple[HolderChange, ...]:
    if base is None or head is None:
        return ()
    before = {(holder.place.path, holder.what): holder for holder in base.largest}
    after = {(holder.place.path, holder.what): holder for holder in head.largest}
    changes = [
        HolderChange((after.get(key) or before[key]).place, key[1], before[key].bytes if key in before else 0, after[key].bytes if key in after else 0)
        for key in {**before, **after}
    ]
    return tuple(sorted((change for change in changes if change.delta), key=lambda change: (-abs(change.delta), change.place, change.what)))


def _fits(base: Estimate | None, head: Estimate | None) -> tuple[FitChange, ...]:
    before = {fit.gpu: fit.verdict for fit in base.fits} if base else {}
    after = {fit.gpu: fit.verdict for fit in head.fits} if head else {}
    return tuple(FitChange(gpu, before.get(gpu), after.get(gpu)) for gpu in {**after, **before})
