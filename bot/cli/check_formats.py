"""What ``check`` prints, in each of its formats."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from analysis.finding import Confidence, Finding, Severity
from analysis.report import Report
from analysis.rule import Rule
from bot.cli import finding_text
from bot.cli.folder import Folder
from bot.cli.shown import renamed
from bot.cli.source_lines import lines_of
from bot.cli.terminal import Paint, Style
from bot.cli.workflow_command import workflow_command
from bot.review.finding_json import counts_to_json, finding_to_json
from bot.review.located import LocatedFinding, locate
from bot.review.sizes import counted
from sarif import to_sarif


@dataclass(frozen=True)
class Checked:
    """A report on a folder; findings below ``confidence`` are counted only. ``fixed`` counts by rule those that were just fixed."""

    report: Report
    folder: Folder
    rules: tuple[Rule, ...]
    confidence: Confidence
    fixed: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that are shown, with paths from the root of the project."""
        return tuple(finding for finding in self.report.findings if finding.confidence >= self.confidence)

    @cached_property
    def located(self) -> tuple[LocatedFinding, ...]:
        """The same in lines and columns, with paths from the working directory."""
        return tuple(renamed(locate(finding, self.folder.snapshot), self.folder.shown) for finding in self.findings)

    def lines(self) -> finding_text.Lines:
        """The lines of a file, by its path from the working directory."""
        paths = {span.path for finding in self.findings for span in (finding.span, *(step.span for step in finding.evidence))}
        return lines_of(self.folder.snapshot, {path: self.folder.shown(path) for path in paths})


def _text(checked: Checked, paint: Paint) -> str:
    blocks = [finding_text.render(finding, checked.lines(), paint) for finding in checked.located]
    return "\n\n".join([*blocks, _summary(checked, paint)]) + "\n"


def _summary(checked: Checked, paint: Paint) -> str:
    """The last line: how many findings of which severity, and in how much code."""
    severities = Counter(finding.severity for finding in checked.findings)
    parts = [counted(severities[severity], severity.label) for severity in reversed(Severity) if severities[severity]]
    found = paint(", ".join(parts), Style.BOLD) if parts else paint("Nothing found", Style.GREEN)
    hidden = len(checked.report.findings) - len(checked.findings)
    notes = [f"{counted(hidden, 'finding')} of lower confidence not shown"] if hidden else []
    notes += [f"{counted(len(checked.report.not_analysed), 'file')} not analysed"] if checked.report.not_analysed else []
    notes += _unseen(checked.report)
    notes += _hidden(checked.report)
    beside = f" ({', '.join(notes)})" if notes else ""
    if not (checked.report.files or checked.report.not_analysed):
        return f"No Python file to check{beside}."
    return f"{found} in {counted(checked.report.files, 'file')}, {counted(checked.report.rules, 'rule')}{beside}."


def _unseen(report: Report) -> list[str]:
    """What "nothing found" would hide: that nothing was seen to train, and how much was not followed."""
    if report.files and not report.programs:
        return ["no training was found in them" if report.files > 1 else "no training was found in it"]
    return [f"{counted(len(report.unresolved), 'place')} not followed"] if report.unresolved else []


def _hidden(report: Report) -> list[str]:
    """How many findings comments and a baseline hide."""
    notes = [f"{len(report.suppressed)} suppressed"] if report.suppressed else []
    return [*notes, *([f"{len(report.baselined)} in the baseline"] if report.baselined else [])]


def _json(checked: Checked, _paint: Paint) -> str:
    report, shown = checked.report, checked.folder.shown
    value = {
        "version": 1,
        "findings": [finding_to_json(finding) for finding in checked.located],
        "unresolved": [{"path": shown(each.path), "line": each.line, "message": each.message} for each in report.unresolved],
        "not_analysed": [{"path": shown(each.path), "line": each.line, "message": each.reason} for each in report.not_analysed],
        "files": report.files,
        "rules": report.rules,
        **counts_to_json("suppressed", (each.rule for each in report.suppressed)),
        "fixed_by_rule": dict(sorted(checked.fixed.items())),
        **counts_to_json("baselined", (each.rule for each in report.baselined)),
        "problems": list(report.problems),
    }
    return json.dumps(value, indent=2) + "\n"


def _sarif(checked: Checked, _paint: Paint) -> str:
    report = replace(checked.report, findings=checked.findings)
    return json.dumps(to_sarif(report, checked.folder.snapshot, checked.rules), indent=2) + "\n"


def _github(checked: Checked, _paint: Paint) -> str:
    commands = "".join(workflow_command(finding) + "\n" for finding in checked.located)
    hidden = ", ".join(_hidden(checked.report))
    return f"{commands}Preflight: {hidden}.\n" if hidden else commands  # a plain line of the log, no annotation


FORMATS: Mapping[str, Callable[[Checked, Paint], str]] = {"text": _text, "json": _json, "sarif": _sarif, "github": _github}
