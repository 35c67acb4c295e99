"""Rules asked about the traces of a snapshot, entry by entry, so that a small edit costs only the entries that it reaches."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from analysis.answers import Answer, Asked, Memory, Said
from analysis.consulted import Consulted, Watched
from analysis.enclosing import enclosing
from analysis.finding import Finding
from analysis.fingerprint import fingerprinted
from analysis.fixes.change import Reported
from analysis.index import Index, index
from analysis.library.entries import Entry
from analysis.library.prelude import Preludes
from analysis.library.program import Tracing
from analysis.rule import Rule
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span
from analysis.trace import Trace


@dataclass(slots=True)
class Questioning:
    """One set of rules, and what was answered before with these rules.

    What stands nearest to ``changed`` files is run first; ``problems`` names the rules that failed.
    """

    rules: Sequence[Rule]
    memory: Memory
    changed: Collection[str] = ()
    problems: list[str] = field(default_factory=list)

    def ask(self, snapshot: Snapshot, built: Index, entries: Collection[str]) -> dict[str, Said]:
        """What the rules say, by the path of the entry."""
        answered: dict[str, list[Answer]] = {}
        failed: set[str] = set()
        tracing = Tracing(snapshot, built, entries, self.changed, preludes=Preludes(built))
        for entry in tracing.due():
            answer = self._answer(tracing, entry, frozenset(failed))
            tracing.add(answer.ran, entry)
            failed.update(answer.failed)
            self.problems.extend(problem for problem in answer.failed.values() if problem not in self.problems)
            answered.setdefault(entry.path, []).append(answer)
        return {path: _merged(answers, failed) for path, answers in answered.items()}

    def _answer(self, tracing: Tracing, entry: Entry, failed: frozenset[str]) -> Answer:
        """What the runs of one entry give, from memory where nothing that they looked at has changed."""
        asked = Asked(entry, tracing.may_be_distributed(entry), tracing.steps_for(entry), failed)
        known = self.memory.find(asked, tracing.snapshot, tracing.index.modules)
        if known is not None:
            return known
        contents = Watched(tracing.snapshot.contents)
        answer = Answer()
        for trace in tracing.traces(entry, answer.ran, tracing.snapshot.seen_through(contents)):
            answer.unresolved.extend(trace.unresolved)
            for rule in self.rules if trace.root.children else ():  # what was not run says nothing
                if rule.name not in failed and rule.name not in answer.failed:
                    self._check(rule, trace, answer)
        self.memory.keep(asked, answer, Consulted.by(entry.path, contents, tracing.index.modules))
        return answer

    def _check(self, rule: Rule, trace: Trace, answer: Answer) -> None:
        try:
            answer.reported.extend(rule.check(trace))
        except Exception as error:  # noqa: BLE001  a rule may be anybody's: it is named and skipped, and the others go on
            answer.failed[rule.name] = f"the rule {rule.name} failed on {trace.path} and was skipped: {type(error).__name__}: {error}"

    def again(self, after: Snapshot, entries: Collection[str]) -> tuple[Finding, ...]:
        """All findings of an edited snapshot: runs that the edit does not reach are not made again."""
        built = index(after, self.memory.facts)
        return tuple(each.finding for each in unique(self.ask(after, built, entries), after, built))


def _merged(answers: Sequence[Answer], failed: Collection[str]) -> Said:
    reported = (each for answer in answers for each in answer.reported)
    notes = dict.fromkeys(note for answer in answers for note in answer.unresolved)
    return Said(_of_rules(reported, failed), tuple(notes))


def _of_rules(reported: Iterable[Reported], failed: Collection[str]) -> tuple[Reported, ...]:
    return tuple(each for each in reported if each.finding.rule not in failed)


def unique(said: dict[str, Said], snapshot: Snapshot, built: Index) -> list[Reported]:
    """One finding per rule and place, the gravest and surest one, in the order of their places, with function and fingerprint."""
    best: dict[tuple[str, Span], Reported] = {}
    for entry in sorted(said):
        for each in said[entry].reported:
            if _is_a_class(each.finding.span, snapshot):
                continue  # it stands in an imagined loop alone: nothing there is a reader's to change
            known = best.get((each.finding.rule, each.finding.span))
            if known is None or _weight(each.finding) > _weight(known.finding):
                best[(each.finding.rule, each.finding.span)] = each
    ordered = sorted(best.values(), key=lambda each: order(each.finding))
    named = fingerprinted([each.finding for each in ordered], snapshot, built.modules)
    return [replace(each, finding=finding) for each, finding in zip(ordered, named, strict=True)]


def _is_a_class(span: Span, snapshot: Snapshot) -> bool:
    source = snapshot.source(span.path) if span.path in snapshot.contents else None
    if not isinstance(source, SourceFile):
        return False
    statement = enclosing(source, span).statement
    return isinstance(statement, ast.ClassDef) and source.span(statement) == span


def _weight(finding: Finding) -> tuple[int, int]:
    return finding.severity, finding.confidence


def order(finding: Finding) -> tuple[Span, str, str]:
    """Findings stand in the order of their places."""
    return finding.span, finding.rule, finding.message
