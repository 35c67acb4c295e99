"""Findings of base and head matched by fingerprint: what the change introduces, fixes, and leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from bot.review.located import LocatedFinding


@dataclass(frozen=True, slots=True)
class Matched:
    """Every head finding is introduced or existing; a base finding without a partner is fixed."""

    introduced: tuple[LocatedFinding, ...]
    fixed: tuple[LocatedFinding, ...]
    existing: tuple[LocatedFinding, ...]


def match(base: Iterable[LocatedFinding], head: Iterable[LocatedFinding]) -> Matched:
    """Pair findings one to one by fingerprint; a fingerprint that occurs twice needs two partners."""
    before, after = list(base), list(head)
    known = Counter(finding.fingerprint for finding in before)
    introduced, existing = [], []
    for finding in after:
        if known[finding.fingerprint] > 0:
            known[finding.fingerprint] -= 1
            existing.append(finding)
        else:
            introduced.append(finding)
    return Matched(_sorted(introduced), _sorted(_leftover(before, known)), _sorted(existing))


def _leftover(before: list[LocatedFinding], unmatched: Counter[str]) -> list[LocatedFinding]:
    left = []
    for finding in reversed(before):
        if unmatched[finding.fingerprint] > 0:
            unmatched[finding.fingerprint] -= 1
            left.append(finding)
    return left


def _sorted(findings: Iterable[LocatedFinding]) -> tuple[LocatedFinding, ...]:
    return tuple(sorted(findings, key=lambda finding: finding.rank))
