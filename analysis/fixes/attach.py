"""A finding gets its fix only after the fix was tried: applied, parsed, and the program analysed again.

Offered is what makes the finding go and brings no other. Fixes that do not touch each other are tried together, and
apart only where together they fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from analysis.finding import Finding, Fix
from analysis.fixes.apply import apply, compatible, edits_of
from analysis.fixes.change import Reported
from analysis.fixes.draft import draft
from analysis.fixes.survivors import survivors
from analysis.fixes.wire import Refused
from analysis.snapshot import Snapshot
from analysis.source import SourceFile

#: Every trial is a whole analysis; what is left after so many is not offered.
MAX_TRIALS = 32

Reanalyse: TypeAlias = Callable[[Snapshot], Sequence[Finding]]


def attach(reported: Sequence[Reported], snapshot: Snapshot, reanalyse: Reanalyse) -> tuple[Finding, ...]:
    """The findings in the same order, each with a fix that was tried or with the reason why it has none.

    ``reanalyse`` must find in ``snapshot`` what was reported: all findings, before any of them is suppressed or left out.
    A finding that brings a fix of its own has that one tried.
    """
    proposals = {place: report.proposal for place, report in enumerate(reported) if report.proposal is not None}
    drafted: dict[int, Fix | Refused] = dict(zip(proposals, draft(list(proposals.values()), snapshot), strict=True))
    own = {place: report.finding.fix for place, report in enumerate(reported) if report.finding.fix is not None}
    fixes = own | {place: fix for place, fix in drafted.items() if isinstance(fix, Fix)}
    trials = _Trials([report.finding for report in reported], snapshot, reanalyse)
    refused = {place: f"its fix cannot be made: {fix.because}" for place, fix in drafted.items() if isinstance(fix, Refused)}
    refused |= trials.refusals(fixes)
    return tuple(_with_fix(report.finding, fixes.get(place), refused.get(place)) for place, report in enumerate(reported))


def _with_fix(finding: Finding, fix: Fix | None, refused: str | None) -> Finding:
    if refused is not None:
        return replace(finding, fix=None, no_fix_because=refused)
    return finding if fix is None else replace(finding, fix=fix, no_fix_because=None)


class _Trials:
    """The program before, and how often it was analysed again."""

    def __init__(self, findings: Sequence[Finding], snapshot: Snapshot, reanalyse: Reanalyse) -> None:
        self.findings = findings
        self.snapshot = snapshot
        self.reanalyse = reanalyse
        self.left = MAX_TRIALS

    def refusals(self, fixes: Mapping[int, Fix]) -> dict[int, str]:
        """Why fixes are not offered, by the place of their finding; those that hold are not in it."""
        refused: dict[int, str] = {}
        waiting = dict(fixes)
        while waiting:
            together = compatible(waiting.values())
            group = {place: fix for place, fix in waiting.items() if any(fix is chosen for chosen in together)}
            refused |= self._tried(group)
            waiting = {place: fix for place, fix in waiting.items() if place not in group}
        return refused

    def _tried(self, group: Mapping[int, Fix]) -> dict[int, str]:
        if self.left == 0:
            return dict.fromkeys(group, f"its fix was not tried: more than {MAX_TRIALS} trials were needed")
        self.left -= 1
        failure = self._failure(group)
        if failure is None:
            return {}
        if len(group) == 1:
            return dict.fromkeys(group, failure)
        places = sorted(group)
        halves = places[: len(places) // 2], places[len(places) // 2 :]
        return {place: because for half in halves for place, because in self._tried({place: group[place] for place in half}).items()}

    def _failure(self, group: Mapping[int, Fix]) -> str | None:
        """What is wrong with the program after these fixes, if anything is."""
        edits = edits_of(group.values())
        changed = apply(self.snapshot, edits)
        after = self.snapshot.with_contents(changed)
        for path in changed:
            source = after.source(path)
            if not isinstance(source, SourceFile):
                return f"its fix was tried and leaves {path} {source.reason}"
        cured = [self.findings[place] for place in group]
        others = [finding for place, finding in enumerate(self.findings) if place not in group]
        for finding, known in survivors([*others, *cured], self.reanalyse(after), edits, self.snapshot, after):
            if known is None:
                return f"its fix was tried and brings {finding.rule} in line {after.position(finding.span).line} of {finding.span.path}"
            if any(known is one for one in cured):
                return "its fix was tried and the finding stays"
        return None
