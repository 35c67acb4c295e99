"""The review of a change: what it introduces, what it fixes, and the memory before and after."""

from __future__ import annotations

from dataclasses import dataclass

from bot.review.located import LocatedFinding, Remark
from estimator.estimate import Estimate


@dataclass(frozen=True, slots=True)
class EstimatePair:
    """One entry point in one configuration, before and after; None where it does not exist on that side."""

    entry: str
    base: Estimate | None
    head: Estimate | None


@dataclass(frozen=True, slots=True)
class Review:
    """What ``review --format json`` says.

    ``merge_base`` is the commit that findings and memory are compared with; ``base`` the tip of the base
    branch, where the configuration was read. ``existing`` findings stand on both sides, within the scope of
    the change. ``unsure`` findings of the head rest on a value that was lost on the way: they are counted, not shown.
    ``suppressed`` names the rule of each finding of the head that a comment silences.
    ``problems`` are sentences about the configuration or a rule that failed.
    """

    base: str
    head: str
    merge_base: str
    introduced: tuple[LocatedFinding, ...] = ()
    fixed: tuple[LocatedFinding, ...] = ()
    existing: tuple[LocatedFinding, ...] = ()
    unresolved: tuple[Remark, ...] = ()
    not_analysed: tuple[Remark, ...] = ()
    estimates: tuple[EstimatePair, ...] = ()
    files: int = 0
    rules: int = 0
    unsure: int = 0
    suppressed: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
