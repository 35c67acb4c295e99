"""Estimates before and after as findings: what runs out of memory, and what holds more than it did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from analysis.finding import Finding
from analysis.fingerprint import fingerprinted
from analysis.modules import Modules
from analysis.report import Report
from analysis.selection import configured, select
from analysis.settings import Settings
from analysis.snapshot import Snapshot
from analysis.suppress import Suppressed, silence
from bot.review.located import LocatedFinding, locate
from bot.review.result import EstimatePair
from estimator.estimate import Estimate
from estimator.findings import memory_rules
from estimator.findings.memory_regression import memory_regression
from estimator.findings.projected_oom import projected_oom, too_small


@dataclass(frozen=True, slots=True)
class MemoryFindings:
    """What a change does to memory; ``suppressed`` findings of the head were silenced by a comment."""

    introduced: tuple[LocatedFinding, ...] = ()
    fixed: tuple[LocatedFinding, ...] = ()
    existing: tuple[LocatedFinding, ...] = ()
    suppressed: tuple[LocatedFinding, ...] = ()


class _State(Enum):
    INTRODUCED = auto()
    FIXED = auto()
    EXISTING = auto()


def memory_findings(pairs: Iterable[EstimatePair], base: Snapshot, head: Snapshot, settings: Settings) -> MemoryFindings:
    """The findings that ``settings`` ask for. One message a cause: what no longer fits is not reported as growth too."""
    found = [each for pair in pairs for each in _of_pair(pair, base, head, settings)]
    by_state = {state: _wanted([finding for each, finding in found if each is state], base if state is _State.FIXED else head, settings) for state in _State}
    return MemoryFindings(
        introduced=tuple(locate(each, head) for each in by_state[_State.INTRODUCED].stay),
        fixed=tuple(locate(each, base) for each in by_state[_State.FIXED].stay),
        existing=tuple(locate(each, head) for each in by_state[_State.EXISTING].stay),
        suppressed=tuple(locate(each, head) for state in (_State.INTRODUCED, _State.EXISTING) for each in by_state[state].silenced),
    )


def overfull(estimates: Iterable[Estimate], snapshot: Snapshot, settings: Settings) -> Suppressed:
    """What runs out of memory on ``snapshot``, with nothing to compare it with."""
    found = (projected_oom(None, each, snapshot) for each in estimates)
    return _wanted([each for each in found if each is not None], snapshot, settings)


def _of_pair(pair: EstimatePair, base: Snapshot, head: Snapshot, settings: Settings) -> Iterator[tuple[_State, Finding]]:
    after = None if pair.head is None else projected_oom(pair.base, pair.head, head)
    if after is not None:
        yield _State.INTRODUCED if _brought(pair) else _State.EXISTING, after
        return
    before = None if pair.base is None else projected_oom(None, pair.base, base)
    if before is not None and pair.head is not None and pair.head.memory is not None:
        yield _State.FIXED, before
    grown = None if pair.base is None or pair.head is None else memory_regression(pair.base, pair.head, head, settings.memory_threshold)
    if grown is not None:
        yield _State.INTRODUCED, grown


def _brought(pair: EstimatePair) -> bool:
    """Whether the change itself takes the run off a card: where the base could not be told, nobody knows."""
    known = pair.base is None or pair.base.memory is not None
    return known and bool({fit.gpu for fit in too_small(pair.head)} - {fit.gpu for fit in too_small(pair.base)})


def _wanted(findings: Sequence[Finding], snapshot: Snapshot, settings: Settings) -> Suppressed:
    """Those that the configuration asks for, named, apart from those that a comment silences."""
    asked = {rule.name for rule in select(memory_rules(), settings.select, settings.ignore)}
    ordered = sorted((each for each in findings if each.rule in asked), key=lambda each: (each.span, each.rule))
    report = configured(Report(tuple(fingerprinted(ordered, snapshot, Modules(snapshot)))), settings)
    return silence(report.findings, snapshot)
