"""Comments that silence a finding: ``# preflight: ignore[rule] reason`` and ``# preflight: ignore-file[rule] reason``.

The first stands on a line of the finding or on the line above it; several rules are separated by commas. One that silences
nothing is itself a notice, so that comments do not outlive what they were written for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.nearest import did_you_mean
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span

#: The notice about a comment that silences nothing.
UNUSED = "unused-suppression"
#: What every comment to us holds, so that files without one are passed over.
MARK = b"preflight:"
_COMMENT = re.compile(rb"#[ \t]*preflight:[ \t]*ignore(?P<file>-file)?(?![\w-])(?:[ \t]*\[(?P<rules>[^\]\r\n]*)\])?")
_NO_FIX = "the comment may hold a reason worth keeping: remove it by hand"


@dataclass(slots=True)
class Suppression:
    """One rule named by one comment at ``span``; ``line`` is None where the whole file is meant."""

    rule: str
    span: Span
    line: int | None
    used: bool = False

    def covers(self, finding: Finding, first: int, last: int) -> bool:
        """Whether it silences ``finding``, which stands on lines ``first`` to ``last``."""
        return self.rule == finding.rule and (self.line is None or first - 1 <= self.line <= last)


@dataclass(slots=True)
class Suppressed:
    """What became of the findings: those that ``stay`` (notices about unused comments included) and those that were ``silenced``."""

    stay: list[Finding] = field(default_factory=list)
    silenced: list[Finding] = field(default_factory=list)


def suppress(findings: Iterable[Finding], snapshot: Snapshot, paths: Iterable[str], ran: Collection[str], known: Collection[str]) -> Suppressed:
    """Apply the comments of ``paths``. ``ran`` are the names of the rules that ran, ``known`` of all there are."""
    comments = {path: list(_comments(source)) for path in sorted(paths) if isinstance(source := snapshot.source(path), SourceFile)}
    outcome = _applied(findings, snapshot, comments)
    for found in (found for path in comments for found in comments[path] if not found.used):
        if found.rule in ran or found.rule not in known:
            outcome.stay.append(_unused(found, known))
    return outcome


def silence(findings: Sequence[Finding], snapshot: Snapshot) -> Suppressed:
    """Apply the comments of the files that ``findings`` stand in; whether a comment is used is not asked."""
    sources = (snapshot.source(path) for path in {finding.span.path for finding in findings})
    return _applied(findings, snapshot, {source.path: list(_comments(source)) for source in sources if isinstance(source, SourceFile)})


def _applied(findings: Iterable[Finding], snapshot: Snapshot, comments: Mapping[str, list[Suppression]]) -> Suppressed:
    outcome = Suppressed()
    for finding in findings:
        lines = _lines(finding, snapshot)
        covering = [found for found in comments.get(finding.span.path, ()) if found.covers(finding, *lines)]
        for found in covering:
            found.used = True
        (outcome.silenced if covering else outcome.stay).append(finding)
    return outcome


def _comments(source: SourceFile) -> Iterator[Suppression]:
    found = list(_COMMENT.finditer(source.content))
    strings = list(_strings(source)) if found else []
    for match in found:
        span = Span(source.path, match.start(), match.end())
        if any(string.start <= span.start < string.end for string in strings):
            continue
        line = None if match["file"] else source.line_of(span.start)
        yield from (Suppression(name.strip(), span, line) for name in (match["rules"] or b"").decode().split(","))


def _strings(source: SourceFile) -> Iterator[Span]:
    """The bytes that look like comments to a regular expression and are none."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))):
            yield source.span(node)


def _lines(finding: Finding, snapshot: Snapshot) -> tuple[int, int]:
    source = snapshot.source(finding.span.path)
    if not isinstance(source, SourceFile):
        return 1, 1
    return source.line_of(finding.span.start), source.line_of(max(finding.span.start, finding.span.end - 1))


def _unused(found: Suppression, known: Collection[str]) -> Finding:
    if found.rule in known:
        says = f"This comment silences {found.rule}, but nothing here is reported by that rule"
    elif not found.rule:
        says = "This comment silences nothing, because it names no rule: write preflight: ignore[rule] reason"
    else:
        says = f"This comment names a rule that does not exist: {found.rule}{did_you_mean(found.rule, known)}"
    return Finding(
        UNUSED,
        Severity.NOTICE,
        Confidence.HIGH,
        found.span,
        says,
        (Evidence(found.span, says),),
        no_fix_because=_NO_FIX,
    )
