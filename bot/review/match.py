"""Findings of base and head matched by fingerprint: what the change introduces, fixes, and leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import chain

from analysis.enclosing import function_at, functions_of
from analysis.snapshot import Snapshot
from analysis.source import SourceFile
from bot.review.located import LocatedFinding


@dataclass(frozen=True, slots=True)
class Matched:
    """Every head finding is introduced or existing; a base finding without a partner is fixed."""

    introduced: tuple[LocatedFinding, ...]
    fixed: tuple[LocatedFinding, ...]
    existing: tuple[LocatedFinding, ...]


@dataclass(frozen=True, slots=True)
class Moves:
    """Files and functions that only the base or only the head has: what leaves the one kind may be found again in the other."""

    removed: Collection[str] = ()
    added: Collection[str] = ()
    base: Snapshot | None = None
    head: Snapshot | None = None

    @classmethod
    def between(cls, base: Snapshot, head: Snapshot) -> Moves:
        """Of a change from ``base`` to ``head``."""
        return cls(base.paths - head.paths, head.paths - base.paths, base, head)

    def may_be(self, before: LocatedFinding, after: LocatedFinding) -> bool:
        """Whether file and function of ``before`` are those of ``after``, by the same name or a new one."""
        same_file = before.path == after.path or (before.path in self.removed and after.path in self.added)
        return same_file and self._same_function(before, after)

    def _same_function(self, before: LocatedFinding, after: LocatedFinding) -> bool:
        old, new = _parsed(self.base, before), _parsed(self.head, after)
        if old is None or new is None or before.cell is not None or after.cell is not None:
            return True
        left, right = function_at(old, before.line), function_at(new, after.line)
        return left == right or left not in functions_of(new) or right not in functions_of(old)


_STAYED = Moves()


def _parsed(snapshot: Snapshot | None, finding: LocatedFinding) -> SourceFile | None:
    source = None if snapshot is None else snapshot.source(finding.path)
    return source if isinstance(source, SourceFile) else None


def match(base: Iterable[LocatedFinding], head: Iterable[LocatedFinding], moves: Moves = _STAYED) -> Matched:
    """Pair findings one to one by fingerprint, then what says the same in the same function or in one that took its place.

    A fingerprint that occurs twice needs two partners. An edited statement with the mistake that it had before introduces none.
    """
    before, after = list(base), list(head)
    known = Counter(finding.fingerprint for finding in before)
    introduced, existing = [], []
    for finding in after:
        if known[finding.fingerprint] > 0:
            known[finding.fingerprint] -= 1
            existing.append(finding)
        else:
            introduced.append(finding)
    fixed = _leftover(before, known)
    for finding in list(introduced):
        partner = next((each for each in fixed if moves.may_be(each, finding) and _says(each) == _says(finding)), None)
        if partner is not None:
            fixed.remove(partner)
            introduced.remove(finding)
            existing.append(finding)
    return Matched(ranked(introduced), ranked(fixed), ranked(existing))


def _says(finding: LocatedFinding) -> tuple[str, str, int]:
    """What stays of a finding whose statement is edited, or whose file gets another name."""
    return finding.rule, finding.message, len(finding.evidence)


def _leftover(before: list[LocatedFinding], unmatched: Counter[str]) -> list[LocatedFinding]:
    left = []
    for finding in reversed(before):
        if unmatched[finding.fingerprint] > 0:
            unmatched[finding.fingerprint] -= 1
            left.append(finding)
    return left


def ranked(*findings: Iterable[LocatedFinding]) -> tuple[LocatedFinding, ...]:
    """All of them, what matters most first."""
    return tuple(sorted(chain(*findings), key=lambda finding: finding.rank))
