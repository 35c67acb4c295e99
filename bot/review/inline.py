"""The review on the changed lines: one comment per fix that a suggestion block can say."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from analysis.finding import Safety
from bot.review import limits
from bot.review.diff import Diff
from bot.review.located import LocatedFinding, LocatedFix
from bot.review.marker import Signer, digest
from bot.review.memory_suggestion import MemorySuggestion
from bot.review.sizes import counted
from bot.review.suggestion import Replacement, suggestible
from bot.review.text import code, fenced, prose

FINDING = "finding"
REVIEW = "review"
_SUGGESTION = "```suggestion"


@dataclass(frozen=True, slots=True)
class InlineComment:
    """A review comment on the lines ``first``..``last`` of the new side; both must stand in one hunk."""

    path: str
    first: int
    last: int
    body: str

    def __post_init__(self) -> None:
        limits.require(self.body, limits.BODY_CHARACTERS, "a review comment")

    def to_json(self) -> dict[str, str | int]:
        """The object of the request; a range of one line must not name its start."""
        value: dict[str, str | int] = {"path": self.path, "body": self.body, "line": self.last, "side": "RIGHT"}
        if self.first < self.last:
            value |= {"start_line": self.first, "start_side": "RIGHT"}
        return value

    def beside(self) -> str:
        """The body where it cannot stand on its lines: it names them, and there is nothing to press."""
        lines = f"Line {self.last}" if self.first == self.last else f"Lines {self.first} to {self.last}"
        return f"{lines}: {self.body.replace(_SUGGESTION, '```python', 1)}"


@dataclass(frozen=True, slots=True)
class InlineReview:
    """One review: at most ten comments, and the findings that they show."""

    body: str
    comments: tuple[InlineComment, ...]
    shown: tuple[LocatedFinding, ...]

    def __post_init__(self) -> None:
        limits.require(self.body, limits.BODY_CHARACTERS, "a review")
        if len(self.comments) > limits.SUGGESTIONS_PER_REVIEW:
            raise ValueError(f"a review has at most {limits.SUGGESTIONS_PER_REVIEW} suggestions")


def inline_review(
    findings: tuple[LocatedFinding, ...],
    diff: Diff,
    contents: Mapping[str, bytes],
    signer: Signer,
    head: str,
    posted: Collection[str] = (),
    memory: Sequence[MemorySuggestion] = (),
) -> InlineReview | None:
    """The review of commit ``head``, or None where no suggestion is left to make.

    ``posted`` are the digests of fingerprints that earlier pushes commented on: a thread is opened once. What would make
    the run fit (``memory``) comes after the findings.
    """
    comments: list[InlineComment] = []
    shown: list[LocatedFinding] = []
    for finding in sorted(findings, key=lambda finding: finding.rank):
        if len(comments) == limits.SUGGESTIONS_PER_REVIEW:
            break
        fix = finding.fix
        if fix is None or digest(finding.fingerprint) in posted:
            continue
        replacement = _replacement(fix, diff, contents)
        if replacement is not None:
            comments.append(_comment(finding, fix, replacement, signer))
            shown.append(finding)
    fresh = [each for each in memory if digest(each.identity) not in posted]
    comments += [_memory_comment(each, signer) for each in fresh[: limits.SUGGESTIONS_PER_REVIEW - len(comments)]]
    if not comments:
        return None
    rest = len(findings) - len(shown)
    body = f"{counted(len(comments), 'suggestion')} on the changed lines."
    if rest:
        body += f" {counted(rest, 'more finding')} in the check."
    return InlineReview(f"{body}\n{signer.mark(REVIEW, head)}", tuple(comments), tuple(shown))


def _memory_comment(suggested: MemorySuggestion, signer: Signer) -> InlineComment:
    replacement = suggested.replacement
    body = f"{suggested.says}\n\n{fenced(replacement.text, 'suggestion')}\n{signer.mark(FINDING, digest(suggested.identity))}"
    return InlineComment(replacement.path, replacement.first, replacement.last, body)


def _replacement(fix: LocatedFix, diff: Diff, contents: Mapping[str, bytes]) -> Replacement | None:
    path = fix.edits[0].path if fix.edits else ""
    content = contents.get(path)
    if content is None:
        return None
    return suggestible(fix, content, lambda first, last: diff.holds(path, first, last))


def _comment(finding: LocatedFinding, fix: LocatedFix, replacement: Replacement, signer: Signer) -> InlineComment:
    lines = [f"{code(finding.rule)} ({finding.severity.label}): {prose(finding.message)}", ""]
    if fix.safety is Safety.REVIEW:
        lines += [f"**Before you apply it:** {prose(fix.title)}", ""]
    else:
        lines += [prose(fix.title), ""]
    lines += [fenced(replacement.text, "suggestion"), ""]
    if len(finding.evidence) > 1:
        steps = [f"1. {code(f'{step.file}:{step.line}')} {prose(step.message)}" for step in finding.evidence]
        lines += ["<details><summary>How it gets there</summary>", "", *steps, "", "</details>", ""]
    body = limits.cut_markdown("\n".join(lines), limits.BODY_CHARACTERS - 200)
    mark = signer.mark(FINDING, digest(finding.fingerprint))
    return InlineComment(replacement.path, replacement.first, replacement.last, f"{body}\n{mark}")
