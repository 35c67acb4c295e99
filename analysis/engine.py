"""From a snapshot to a report: index, traces, rules, then one finding per place, with its fix, unless a comment silences it.

Pure and bounded in steps: the same snapshot and rules give the same report. A rule that raises is named and skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, MutableMapping, Sequence

from analysis.facts import Facts
from analysis.finding import Finding
from analysis.fingerprint import fingerprinted
from analysis.fixes.change import Reported
from analysis.index import Index, index
from analysis.library.program import trace_program
from analysis.report import Report, Unresolved
from analysis.rule import Rule, discover
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed, SourceFile, read
from analysis.suppress import suppress
from analysis.trace import Trace


def analyse(
    snapshot: Snapshot,
    rules: Sequence[Rule],
    paths: Collection[str] | None = None,
    *,
    entries: Collection[str] | None = None,
    store: MutableMapping[str, Facts] | None = None,
) -> Report:
    """What ``rules`` say about ``snapshot``.

    Findings are reported in ``paths`` and runs begin in the files ``entries`` (None: all of them). ``store`` keeps facts by
    content hash from one analysis to the next.
    """
    built = index(snapshot, store)
    wanted = frozenset(snapshot.python_paths()) if paths is None else frozenset(paths)
    starts = _starts(built, wanted) if entries is None else frozenset(entries)
    traces = list(trace_program(snapshot, built, starts))
    reported, problems = _ask(rules, traces)
    findings = fingerprinted((each.finding for each in _unique(reported) if each.finding.span.path in wanted), snapshot, built.modules)
    outcome = suppress(findings, snapshot, wanted & built.facts.keys(), [rule.name for rule in rules], [rule.name for rule in discover()])
    not_analysed = _not_analysed(snapshot, built, wanted)
    return Report(
        findings=tuple(sorted(outcome.stay, key=_order)),
        unresolved=tuple(sorted(set(_unresolved(traces, snapshot, wanted)))),
        not_analysed=not_analysed,
        files=len([path for path in wanted if path.endswith(".py")]) - len(not_analysed),
        rules=len(rules),
        suppressed=tuple(sorted(outcome.silenced, key=_order)),
        problems=tuple(problems),
    )


def _starts(built: Index, wanted: frozenset[str]) -> frozenset[str]:
    """Files whose runs may say something about ``wanted``."""
    return built.reaching(wanted) & built.facts.keys()


def _ask(rules: Sequence[Rule], traces: Sequence[Trace]) -> tuple[list[Reported], list[str]]:
    """What every rule says about every trace, and which rules failed."""
    found: list[Reported] = []
    problems: list[str] = []
    for rule in rules:
        said: list[Reported] = []
        try:
            for trace in traces:
                said.extend(rule.check(trace))
        except Exception as error:  # noqa: BLE001  a rule may be anybody's: it is named, and the others go on
            problems.append(f"the rule {rule.name} failed and was skipped: {type(error).__name__}: {error}")
            continue
        found.extend(said)
    return found, problems


def _unique(reported: Iterable[Reported]) -> list[Reported]:
    """One per rule and place, the surest and gravest one, in the order of their places."""
    best: dict[tuple[object, ...], Reported] = {}
    for each in reported:
        key = (each.finding.rule, each.finding.span)
        known = best.get(key)
        if known is None or _weight(each.finding) > _weight(known.finding):
            best[key] = each
    return sorted(best.values(), key=lambda each: _order(each.finding))


def _weight(finding: Finding) -> tuple[int, int]:
    return finding.severity, finding.confidence


def _order(finding: Finding) -> tuple[object, ...]:
    return finding.span, finding.rule, finding.message


def _unresolved(traces: Iterable[Trace], snapshot: Snapshot, wanted: frozenset[str]) -> Iterator[Unresolved]:
    for trace in traces:
        for span, sentence in trace.unresolved:
            source = snapshot.source(span.path) if span.path in wanted else None
            if isinstance(source, SourceFile):
                yield Unresolved(span.path, source.line_of(span.start), sentence)


def _not_analysed(snapshot: Snapshot, built: Index, wanted: frozenset[str]) -> tuple[NotAnalysed, ...]:
    """Files of ``wanted`` that cannot be read; those that the index passed over are parsed for this alone."""
    found = [failed for failed in built.not_analysed if failed.path in wanted]
    known = built.facts.keys() | {failed.path for failed in found}
    for path in sorted(wanted - known):
        if path.endswith(".py") and path in snapshot.contents:
            source = read(path, snapshot.contents[path])
            if isinstance(source, NotAnalysed):
                found.append(source)
    return tuple(sorted(found, key=lambda failed: (failed.path, failed.line)))
