"""What Preflight says about one repository today: every finding that it would show, and how much of the code it ran to say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from analysis.engine import analyse
from analysis.finding import Confidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.rule import Rule, discover
from analysis.snapshot import Snapshot
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.tree import Alt, CallNode, Leave, Loop, Node, Seq
from bot.cli.git import GitRepository
from bot.cli.outcome import UsageError
from corpus.failure import CorpusError
from corpus.manifest import Repository, git_directory


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the evidence."""

    path: str
    line: int
    says: str


@dataclass(frozen=True, slots=True)
class Observed:
    """A finding by its place; ``evidence`` leads to it."""

    rule: str
    severity: str
    confidence: str
    path: str
    line: int
    fingerprint: str
    message: str
    evidence: tuple[Step, ...]

    @property
    def is_alarm(self) -> bool:
        """Whether it is an error or a warning: what the corpus holds labels for."""
        return self.severity != Severity.NOTICE.label


@dataclass(frozen=True, slots=True)
class Observation:
    """``files`` and ``lines`` of what was interpreted; ``problems`` of the analysis itself; ``snapshot`` to show places from."""

    repository: Repository
    findings: tuple[Observed, ...]
    files: int
    lines: int
    problems: tuple[str, ...]
    snapshot: Snapshot

    @property
    def alarms(self) -> tuple[Observed, ...]:
        """The errors and warnings."""
        return tuple(each for each in self.findings if each.is_alarm)

    def without_source(self) -> Observation:
        """The same without the parsed files: those of forty repositories fill the memory."""
        return replace(self, snapshot=Snapshot.of({}))


def observe(root: Path, repository: Repository) -> Observation:
    """Analyse the commit that the manifest names, as it lies in the git directory below ``root``. Raises CorpusError."""
    try:
        git = GitRepository(git_directory(root, repository))
        snapshot = git.snapshot(git.commit(repository.commit))
    except UsageError as error:
        raise CorpusError(str(error)) from error
    return observe_snapshot(repository, snapshot)


def observe_snapshot(repository: Repository, snapshot: Snapshot) -> Observation:
    """What the rules say about ``snapshot`` at the confidence at which findings are shown."""
    interpreted = _Interpreted()
    report = analyse(snapshot, [*discover(), interpreted.rule()])
    files = sorted(path for path in interpreted.paths if path in snapshot.contents)
    lines = sum(len(snapshot.contents[path].splitlines()) for path in files)
    shown = (finding for finding in report.findings if finding.confidence >= Confidence.MEDIUM)
    return Observation(repository, tuple(_observed(finding, snapshot) for finding in shown), len(files), lines, report.problems, snapshot)


def _observed(finding: Finding, snapshot: Snapshot) -> Observed:
    evidence = tuple(Step(step.span.path, _line(step.span, snapshot), step.says) for step in finding.evidence)
    place = finding.span.path, _line(finding.span, snapshot)
    return Observed(finding.rule, finding.severity.label, finding.confidence.label, *place, finding.fingerprint, finding.message, evidence)


def _line(span: Span, snapshot: Snapshot) -> int:
    return snapshot.position(span).line


@dataclass(slots=True)
class _Interpreted:
    """Notes the files in which something happens on any trace; it is asked as a rule is, and never finds anything."""

    paths: set[str] = field(default_factory=set)

    def rule(self) -> Rule:
        return Rule("files-interpreted", Severity.NOTICE, "the files that were interpreted", __doc__, self._check, ())

    def _check(self, trace: Trace) -> Iterator[Reported]:
        self.paths.add(trace.path)
        todo: list[Node] = [trace.root]
        while todo:
            match todo.pop():
                case Seq(children=inner):
                    todo.extend(inner)
                case Alt(span=span, arms=arms):
                    self.paths.add(span.path)
                    todo.extend(arms)
                case Loop(span=span, iterations=rounds):
                    self.paths.add(span.path)
                    todo.extend(rounds)
                case CallNode(span=span, body=body):
                    self.paths.add(span.path)
                    todo.append(body)
                case Leave():
                    pass
                case event:
                    self.paths.update(each.path for each in (event.span, *event.path))
        return iter(())
