"""The check run: what was understood, what was not, and every finding that the change introduces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analysis.settings import FailOn, Settings
from bot.review import limits
from bot.review.comment import is_news, plain_sha
from bot.review.headline import headline
from bot.review.located import LocatedFinding, Remark
from bot.review.result import Review
from bot.review.settings_read import assumptions
from bot.review.sizes import counted
from bot.review.text import cell, code, prose
from bot.review.understood import understood

Conclusion = Literal["success", "neutral", "failure", "skipped", "timed_out", "cancelled"]

#: The title of a check run that got no result.
UNFINISHED = "Preflight could not finish"

_REMARKS_SHOWN = 20
_FINDINGS_SHOWN = 50
_EXISTING_SHOWN = 20


@dataclass(frozen=True, slots=True)
class CheckOutput:
    """Title, summary and conclusion of a completed check run."""

    conclusion: Conclusion
    title: str
    summary: str

    def __post_init__(self) -> None:
        limits.require(self.title, limits.TITLE_CHARACTERS, "the title of a check run")
        limits.require(self.summary, limits.OUTPUT_CHARACTERS, "the summary of a check run")


def check_output(review: Review, settings: Settings) -> CheckOutput:
    """The check run on ``review``; it fails only where an introduced finding reaches ``fail-on`` (unset: never)."""
    return CheckOutput(
        _conclusion(review, settings.fail_on or FailOn.NEVER),
        limits.title(_title(review, settings)),
        limits.cut_markdown(summary(review, settings), limits.OUTPUT_CHARACTERS),
    )


def notice_output(conclusion: Conclusion, title: str, explanation: str) -> CheckOutput:
    """A check run that reports no review: skipped, stopped, or nothing to read."""
    return CheckOutput(conclusion, limits.title(title), limits.cut_markdown(explanation, limits.OUTPUT_CHARACTERS))


def summary(review: Review, settings: Settings) -> str:
    """The Markdown of the check run, most important first."""
    sections = [
        "\n".join(f"- {headline(pair)}" for pair in review.estimates),
        *_problems(review),
        *_findings("Introduced by this change", review.introduced, _FINDINGS_SHOWN),
        *_fixed(review),
        *_assumptions(review),
        *_folded_findings(review.existing),
        *_folded_remarks("not followed", "Calls and values that the source does not tell; findings that depend on them are left out.", review.unresolved),
        *_folded_remarks("not read", "Files that could not be analysed.", review.not_analysed),
        *_folded_unknowns(review),
        *understood(review),
        _read(review) + _consequence(review, settings),
    ]
    return "\n\n".join(filter(None, sections))


def _conclusion(review: Review, fail_on: FailOn) -> Conclusion:
    if not review.introduced:
        return "success"
    failed = any(fail_on.fails(finding.severity) for finding in review.introduced)
    return "failure" if failed else "neutral"


def _title(review: Review, settings: Settings) -> str:
    """A plain-text line: counts of findings, then how many entry points changed their peak."""
    parts = [counted(len(review.introduced), "finding") + " introduced"] if review.introduced else []
    parts += [f"{len(review.fixed)} fixed"] if review.fixed else []
    parts += [f"{counted(len(review.existing), 'finding')} already there"] if review.existing and not review.introduced else []
    moved = sum(is_news(pair, settings.memory_threshold) for pair in review.estimates)
    parts += [f"memory of {counted(moved, 'entry point')} changes"] if moved else []
    return ", ".join(parts) or "Nothing found in the training code"


def _problems(review: Review) -> list[str]:
    return ["\n".join(["**Reported while reading**", *(f"- {prose(problem)}" for problem in review.problems)])] if review.problems else []


def _findings(title: str, findings: tuple[LocatedFinding, ...], shown: int) -> list[str]:
    if not findings:
        return []
    ordered = sorted(findings, key=lambda finding: finding.rank)
    rows = [_row(finding) for finding in ordered[:shown]]
    more = [f"\n… and {len(ordered) - shown} more."] if len(ordered) > shown else []
    return ["\n".join([f"#### {title}", "", "| | where | what |", "|---|---|---|", *rows, *more])]


def _row(finding: LocatedFinding) -> str:
    where = code(f"{finding.file}:{finding.line}")
    files = sorted({step.path for step in finding.evidence} - {finding.path})
    across = f" (with {', '.join(map(code, files))})" if files else ""
    return f"| {finding.severity.label} | {cell(where)} | {cell(code(finding.rule))}: {cell(prose(finding.message))}{cell(across)} |"


def _fixed(review: Review) -> list[str]:
    if not review.fixed:
        return []
    lines = [f"- {code(finding.rule)} in {code(f'{finding.file}:{finding.line}')}" for finding in review.fixed[:_FINDINGS_SHOWN]]
    return ["\n".join(["#### Fixed by this change", "", *lines])]


def _assumptions(review: Review) -> list[str]:
    lines = [f"- {code(pair.entry)}: {line}" for pair in review.estimates if pair.head for line in assumptions(pair.head)]
    return ["\n".join(["#### Assumed", "", *lines])] if lines else []


def _folded_unknowns(review: Review) -> list[str]:
    """What the estimates do not know, by entry point: the line below counts it, and there may be no memory comment to name it."""
    lines = [f"- {code(pair.entry)}: {prose(each)}" for pair in review.estimates if pair.head for each in pair.head.unknowns]
    if not lines:
        return []
    more = [f"- … and {len(lines) - _REMARKS_SHOWN} more"] if len(lines) > _REMARKS_SHOWN else []
    return ["\n".join(["<details><summary>not known to the estimate</summary>", "", *lines[:_REMARKS_SHOWN], *more, "", "</details>"])]


def _folded_findings(findings: tuple[LocatedFinding, ...]) -> list[str]:
    table = _findings("Also on the base, in code that this change touches", findings, _EXISTING_SHOWN)
    if not table:
        return []
    return [f"<details><summary>{counted(len(findings), 'finding')} already on the base</summary>\n\n{table[0]}\n\n</details>"]


def _folded_remarks(label: str, explanation: str, remarks: tuple[Remark, ...]) -> list[str]:
    if not remarks:
        return []
    lines = [f"- {code(f'{remark.path}:{remark.line}')} {prose(remark.message)}" for remark in remarks[:_REMARKS_SHOWN]]
    more = [f"- … and {len(remarks) - _REMARKS_SHOWN} more"] if len(remarks) > _REMARKS_SHOWN else []
    return ["\n".join([f"<details><summary>{len(remarks)} {label}</summary>", "", explanation, "", *lines, *more, "", "</details>"])]


def _consequence(review: Review, settings: Settings) -> str:
    """Whether findings fail this check: nobody should have to guess why it is grey, or red."""
    if not review.introduced:
        return ""
    fail_on = settings.fail_on or FailOn.NEVER
    if fail_on is FailOn.NEVER:
        return f" Findings do not fail this check ({code('fail-on')} would)."
    return f" This check fails from {fail_on.value} on ({code('fail-on')})."


def _read(review: Review) -> str:
    compared = f"{plain_sha(review.head)} compared with its merge base {plain_sha(review.merge_base)}"
    read = [counted(review.files, "file"), counted(len(review.estimates), "entry point") if review.estimates else "", counted(review.rules, "rule")]
    unsure = f" {counted(review.unsure, 'finding')} resting on a value that was lost on the way: not shown." if review.unsure else ""
    configured = f" Configuration from {plain_sha(review.base)}." if review.base else ""
    silenced = f" {counted(len(review.suppressed), 'finding')} silenced by comments." if review.suppressed else ""
    return f"Read {', '.join(filter(None, read))}: {compared}; nothing was run.{configured}{unsure}{silenced}"
