"""Rules asked about the traces of a snapshot, entry by entry, so that a small edit costs only the entries that it reaches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace

from analysis.facts import Facts
from analysis.finding import Finding
from analysis.fingerprint import fingerprinted
from analysis.fixes.change import Reported
from analysis.index import Index, index
from analysis.library.program import trace_program
from analysis.rule import Rule
from analysis.snapshot import Snapshot
from analysis.source import Span
from analysis.trace import Trace


@dataclass(frozen=True, slots=True)
class Said:
    """What the traces of one entry gave."""

    reported: tuple[Reported, ...] = ()
    unresolved: tuple[tuple[Span, str], ...] = ()


@dataclass(slots=True)
class Questioning:
    """One set of rules and a store of facts; what stands nearest to ``changed`` files is run first; ``problems`` names the rules that failed."""

    rules: Sequence[Rule]
    store: MutableMapping[str, Facts]
    changed: Collection[str] = ()
    problems: list[str] = field(default_factory=list)

    def ask(self, snapshot: Snapshot, built: Index, entries: Collection[str]) -> dict[str, Said]:
        """What the rules say, by the path of the entry."""
        reported: dict[str, list[Reported]] = {}
        unresolved: dict[str, list[tuple[Span, str]]] = {}
        failed: set[str] = set()
        for trace in trace_program(snapshot, built, entries, self.changed):
            unresolved.setdefault(trace.path, []).extend(trace.unresolved)
            for rule in self.rules if trace.root.children else ():  # what was not run says nothing
                if rule.name not in failed and not self._asked(rule, trace, reported.setdefault(trace.path, [])):
                    failed.add(rule.name)
        return {path: Said(_of_rules(reported.get(path, ()), failed), tuple(dict.fromkeys(notes))) for path, notes in unresolved.items()}

    def _asked(self, rule: Rule, trace: Trace, found: list[Reported]) -> bool:
        try:
            found.extend(rule.check(trace))
        except Exception as error:  # noqa: BLE001  a rule may be anybody's: it is named and skipped, and the others go on
            self.problems.append(f"the rule {rule.name} failed on {trace.path} and was skipped: {type(error).__name__}: {error}")
            return False
        return True

    def again(self, before: Snapshot, said: dict[str, Said], after: Snapshot) -> tuple[Finding, ...]:
        """All findings of an edited snapshot: entries that the edit does not reach keep theirs."""
        changed = {path for path, raw in after.contents.items() if before.contents.get(path) != raw}
        built = index(after, self.store)
        reached = built.reaching(changed) & said.keys()
        asked = {**said, **dict.fromkeys(reached, Said()), **self.ask(after, built, reached)}
        return tuple(each.finding for each in unique(asked, after, built))


def _of_rules(reported: Iterable[Reported], failed: Collection[str]) -> tuple[Reported, ...]:
    return tuple(each for each in reported if each.finding.rule not in failed)


def unique(said: dict[str, Said], snapshot: Snapshot, built: Index) -> list[Reported]:
    """One finding per rule and place, the gravest and surest one, in the order of their places, with function and fingerprint."""
    best: dict[tuple[str, Span], Reported] = {}
    for entry in sorted(said):
        for each in said[entry].reported:
            known = best.get((each.finding.rule, each.finding.span))
            if known is None or _weight(each.finding) > _weight(known.finding):
                best[(each.finding.rule, each.finding.span)] = each
    ordered = sorted(best.values(), key=lambda each: order(each.finding))
    named = fingerprinted([each.finding for each in ordered], snapshot, built.modules)
    return [replace(each, finding=finding) for each, finding in zip(ordered, named, strict=True)]


def _weight(finding: Finding) -> tuple[int, int]:
    return finding.severity, finding.confidence


def order(finding: Finding) -> tuple[Span, str, str]:
    """Findings stand in the order of their places."""
    return finding.span, finding.rule, finding.message
