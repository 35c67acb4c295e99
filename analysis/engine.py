"""From a snapshot to a report: index, traces, rules, then one finding per place, with its fix, unless a comment silences it.

Pure and bounded in steps: the same snapshot and rules give the same report.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from analysis.answers import Memory, Said
from analysis.finding import Finding
from analysis.fingerprint import fingerprinted
from analysis.fixes.attach import attach
from analysis.fixes.change import Reported
from analysis.index import Index, index
from analysis.questioning import Questioning, order, unique
from analysis.report import Report, Unresolved
from analysis.rule import Rule, discover
from analysis.snapshot import Snapshot, is_code
from analysis.source import NotAnalysed, SourceFile
from analysis.suppress import MARK, UNUSED, suppress

#: Of all findings, those that are to have a fix: each of these is tried, which takes another analysis or more.
Choice: TypeAlias = Callable[[Sequence[Finding]], Collection[Finding]]


def every(findings: Sequence[Finding]) -> Collection[Finding]:
    """All are to have a fix."""
    return findings


def none(_findings: Sequence[Finding]) -> Collection[Finding]:
    """No patch is drafted and tried."""
    return ()


def analyse(
    snapshot: Snapshot,
    rules: Sequence[Rule],
    paths: Collection[str] | None = None,
    *,
    entries: Collection[str] | None = None,
    changed: Collection[str] = (),
    memory: Memory | None = None,
    elsewhere: Collection[str] = (),
    fixes: Choice = every,
) -> Report:
    """What ``rules`` say about ``snapshot``.

    Findings are reported in ``paths``, and where a step of their evidence stands in one of the ``changed`` files; runs begin in the
    files ``entries`` (None: all of them), those nearest to ``changed`` files first. ``memory`` keeps facts and what runs would give
    again from one analysis to the next: one for each set of rules. ``elsewhere`` are names of rules that are asked about something
    else than traces: a comment that names one is not judged here.
    ``fixes`` chooses the findings for which a patch is drafted and tried.
    """
    memory = memory or Memory()
    built = index(snapshot, memory.facts)
    wanted = frozenset(snapshot.python_paths()) if paths is None else frozenset(paths)
    starts = (built.reaching(wanted) if entries is None else frozenset(entries)) & built.facts.keys()
    questioning = Questioning(rules, memory, changed)
    said = questioning.ask(snapshot, built, starts)
    problems = tuple(questioning.problems)
    found = unique(said, snapshot, built)
    chosen = frozenset(fixes([each.finding for each in found if each.finding.span.path in wanted]))
    reported = [each if each.finding in chosen else Reported(replace(each.finding, fix=None)) for each in found]
    findings = attach(reported, snapshot, lambda after: questioning.again(after, starts))
    shown = [finding for finding in findings if finding.span.path in wanted or any(step.span.path in changed for step in finding.evidence)]
    known = {rule.name for rule in discover()} | set(elsewhere)
    outcome = suppress(shown, snapshot, _commented(snapshot, wanted | {finding.span.path for finding in shown}), [rule.name for rule in rules], known)
    not_analysed = _not_analysed(snapshot, built, wanted)
    judged = any(rule.name == UNUSED for rule in rules)
    unused = (finding for finding in outcome.stay if not finding.fingerprint and finding.span.path in wanted)
    notices = sorted(unused, key=order) if judged else []
    return Report(
        findings=tuple(sorted((*(each for each in outcome.stay if each.fingerprint), *fingerprinted(notices, snapshot, built.modules)), key=order)),
        unresolved=tuple(sorted(set(_unresolved(said, snapshot, wanted)))),
        not_analysed=not_analysed,
        files=sum(map(is_code, wanted)) - len(not_analysed),
        programs=len(said),
        rules=len(rules),
        suppressed=tuple(sorted(outcome.silenced, key=order)),
        problems=problems,
    )


def _commented(snapshot: Snapshot, wanted: frozenset[str]) -> Iterator[str]:
    """Files that may hold a comment to us, whether they train or not."""
    return (path for path in sorted(wanted) if is_code(path) and MARK in snapshot.contents.get(path, b""))


def _unresolved(said: dict[str, Said], snapshot: Snapshot, wanted: frozenset[str]) -> Iterator[Unresolved]:
    for entry in said.values():
        for span, sentence in entry.unresolved:
            source = snapshot.source(span.path) if span.path in wanted else None
            if isinstance(source, SourceFile):
                position = source.position(span)
                in_cell = "" if position.cell is None else f"cell {position.cell}: "
                yield Unresolved(span.path, position.line, in_cell + sentence)


def _not_analysed(snapshot: Snapshot, built: Index, wanted: frozenset[str]) -> tuple[NotAnalysed, ...]:
    """Files of ``wanted`` that cannot be read; those that the index passed over are parsed for this alone."""
    found = [failed for failed in built.not_analysed if failed.path in wanted]
    known = built.facts.keys() | {failed.path for failed in found}
    for path in sorted(wanted - known):
        if is_code(path) and path in snapshot.contents:
            source = snapshot.source(path)
            if isinstance(source, NotAnalysed):
                found.append(source)
    return tuple(sorted(found, key=lambda failed: (failed.path, failed.line)))
