"""A finding for a person at a terminal: where, what, the line itself, how it comes to that, and the patch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from analysis.finding import Safety, Severity
from bot.cli import excerpt
from bot.cli.excerpt import Excerpt
from bot.cli.terminal import Paint, Style, printable
from bot.review.located import LocatedFinding, Remark

#: The lines of a file, or of a cell of a notebook, by the name that findings give it.
Lines: TypeAlias = Callable[[str], Sequence[str]]

_STYLES = {Severity.ERROR: Style.RED, Severity.WARNING: Style.YELLOW, Severity.NOTICE: Style.BLUE}


def render(finding: LocatedFinding, lines: Lines, paint: Paint) -> str:
    """Several lines of text, without a newline at the end."""
    style = _STYLES[finding.severity]
    place = paint(f"{printable(finding.file)}:{finding.line}:{finding.column}", Style.BOLD)
    severity = paint(finding.severity.label, style)
    head = f"{place}: {severity}: {printable(finding.message)} {paint(f'[{finding.rule}]', Style.DIM)}"
    return "\n".join([head, *_source(finding, lines, style, paint), *_evidence(finding, lines, paint), *_fix(finding, paint)])


def _source(finding: LocatedFinding, lines: Lines, style: Style, paint: Paint) -> list[str]:
    text = _line(lines(finding.file), finding.line)
    if text is None:
        return []
    end = finding.end_column if finding.end_line == finding.line else len(text.rstrip()) + 1
    return excerpt.render(Excerpt(finding.line, text, finding.column, end), style, paint)


def _evidence(finding: LocatedFinding, lines: Lines, paint: Paint) -> list[str]:
    """The chain, each step with its line; nothing where it would only repeat the finding."""
    steps = finding.evidence
    if len(steps) == 1 and (steps[0].file, steps[0].line) == (finding.file, finding.line):
        return []
    shown = [f"  {paint('because', Style.CYAN)}"]
    for number, step in enumerate(steps, 1):
        shown.append(f"  {number}. {printable(step.file)}:{step.line}: {printable(step.message)}")
        if (step.file, step.line) != (finding.file, finding.line):
            shown += _step_source(step, lines, paint)
    return shown


def _step_source(step: Remark, lines: Lines, paint: Paint) -> list[str]:
    text = _line(lines(step.file), step.line)
    return [] if text is None else [excerpt.plain(step.line, text, paint)]


def _fix(finding: LocatedFinding, paint: Paint) -> list[str]:
    if finding.fix is not None:
        kind = "fix" if finding.fix.safety is Safety.SAFE else "fix to review"
        return [f"  {paint(kind, Style.GREEN)}: {printable(finding.fix.title)}"]
    if finding.no_fix_because:
        return [f"  {paint('no fix', Style.DIM)}: {printable(finding.no_fix_because)}"]
    return []


def _line(lines: Sequence[str], number: int) -> str | None:
    return lines[number - 1] if 1 <= number <= len(lines) else None
