"""Two snapshots to a review: both are analysed, findings are matched, and memory is estimated on either side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, MutableMapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from analysis.answers import Memory
from analysis.engine import analyse, none
from analysis.facts import Facts
from analysis.finding import Confidence, Finding
from analysis.index import index
from analysis.report import Report
from analysis.rule import Rule, discover
from analysis.scope import Scope, narrowed, scope_of
from analysis.selection import configured, require_known_in, select
from analysis.settings import Settings
from analysis.settings_file import UnknownRuleError
from analysis.snapshot import Snapshot
from bot.beside import beside
from bot.review.kept import Kept
from bot.review.located import LocatedFinding, Remark, locate
from bot.review.match import Moves, match, ranked
from bot.review.memory_findings import memory_findings
from bot.review.pairs import asked_of, estimate_pairs, told_of
from bot.review.result import Review
from bot.rules import every_rule
from estimator.findings import memory_rules
from estimator.sources import Shelf

#: Why a finding that was there before comes without a patch.
_NOT_TRIED = "it was there before the change: a review tries fixes for what the change introduces"


def review(
    base: Snapshot,
    head: Snapshot,
    settings: Settings,
    base_tip: str = "",
    problems: tuple[str, ...] = (),
    *,
    kept: Kept | None = None,
    apart: bool = False,
    shelf: Shelf | None = None,
) -> Review:
    """The review of ``head`` against ``base``, its merge base; ``base_tip`` is the commit that ``settings`` were read from.

    ``kept``: what former reviews of the repository have left; it takes what this one leaves. ``apart``: a process of its own looks at the base,
    ``shelf``: where the source of model libraries lies.
    """
    known = Memory((kept := kept or Kept()).facts)
    base, head = narrowed(base.beside(head), head, known.facts)
    scope = scope_of(base, head, known.facts)
    unread = _unread(head, scope, known.facts)
    if not scope.touches_training:
        return Review(base_tip, head.commit, base.commit, not_analysed=unread, problems=problems)
    rules, unknown = _rules(settings)
    asked = partial(_analysed, settings=settings, rules=rules, changed=scope.changed | scope.removed, memory=known)
    index(base, known.facts)  # here: what a fork learns of the base is not kept
    estimated = asked_of(head, scope, settings, kept, shelf)
    moves = Moves.between(base, head)
    on_base = partial(asked, base, paths=scope.paths | scope.removed, entries=scope.entries | scope.removed, fixes=none)
    told = partial(told_of, requests=estimated.requests, kept=kept)
    with beside(lambda: _located(on_base(), base), partial(told, base), partial(told, head), apart=apart) as (before, told_before, told_after):
        after = asked(head, paths=scope.paths, entries=scope.entries, fixes=partial(_introduced, before, head, moves))
        matched = match(before(), _located(after, head), moves)
        memory = estimate_pairs(estimated, kept, told_before, told_after)
    of_memory = memory_findings(memory.pairs, base, head, settings)
    return Review(
        base=base_tip,
        head=head.commit,
        merge_base=base.commit,
        introduced=ranked(matched.introduced, of_memory.introduced),
        fixed=_confirmed(ranked(matched.fixed, of_memory.fixed), head, {each.path for each in unread} | {each.path for each in after.not_analysed}),
        existing=ranked(map(_unfixed, matched.existing), of_memory.existing),
        unresolved=tuple(Remark(each.path, each.line, each.message) for each in after.unresolved),
        not_analysed=tuple(sorted({*unread, *(Remark(each.path, each.line, each.reason) for each in after.not_analysed)})),
        estimates=memory.pairs,
        files=after.files,
        rules=after.rules,
        unsure=sum(finding.confidence is Confidence.LOW for finding in after.findings),
        suppressed=(*(each.rule for each in after.suppressed), *(each.rule for each in of_memory.suppressed)),
        problems=(*problems, *unknown, *after.problems, *memory.problems),
    )


def _analysed(snapshot: Snapshot, settings: Settings, **asked: Any) -> Report:
    return configured(analyse(snapshot, **asked, elsewhere={rule.name for rule in memory_rules()}), settings)


def _rules(settings: Settings) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The selected rules that read traces; a name that no rule has is reported and does not stop the review."""
    try:
        require_known_in(settings, every_rule())
    except UnknownRuleError as error:
        return select(discover(), (), settings.ignore), (str(error),)
    return select(discover(), settings.select, settings.ignore), ()


def _located(report: Report, snapshot: Snapshot) -> list[LocatedFinding]:
    """Findings fit to be posted: those whose chain holds a lost value are only counted."""
    return [locate(finding, snapshot) for finding in report.findings if finding.confidence > Confidence.LOW]


def _introduced(before: Callable[[], Sequence[LocatedFinding]], head: Snapshot, moves: Moves, findings: Sequence[Finding]) -> list[Finding]:
    """Those that the base does not have: only they are posted with a patch."""
    after = {locate(finding, head): finding for finding in findings if finding.confidence > Confidence.LOW}
    return [after[finding] for finding in match(before(), after, moves).introduced]


def _unfixed(finding: LocatedFinding) -> LocatedFinding:
    """A finding for which no fix was tried, with the reason."""
    return finding if finding.fix or finding.no_fix_because else replace(finding, no_fix_because=_NOT_TRIED)


def _unread(head: Snapshot, scope: Scope, store: MutableMapping[str, Facts]) -> tuple[Remark, ...]:
    """Changed files that cannot be read any more: they are in no scope, and a reader wants to hear of them first."""
    failed = index(head, store).not_analysed
    return tuple(Remark(each.path, each.line, each.reason) for each in failed if each.path in scope.changed)


def _confirmed(fixed: Iterable[LocatedFinding], head: Snapshot, unread: Collection[str]) -> tuple[LocatedFinding, ...]:
    """A finding is fixed only if the head could be read where it stood; silence about an unread file is no fix."""
    return tuple(finding for finding in fixed if finding.path not in unread and (finding.path in head.contents or finding.path not in head.paths))
