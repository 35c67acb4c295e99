"""A review for a person at a terminal: what the change introduces in full, the rest in a line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analysis.snapshot import Snapshot
from bot.cli import finding_text
from bot.cli.source_lines import lines_of
from bot.cli.terminal import Paint, Style, printable
from bot.review.located import LocatedFinding
from bot.review.result import EstimatePair, Review
from bot.review.sizes import change, counted
from estimator.estimate import Estimate
from estimator.report.wording import size

_VERDICTS = {"fits": "fits", "borderline": "may not fit", "does_not_fit": "does not fit", "cannot_tell": "cannot be told"}


def as_text(review: Review, head: Snapshot, paint: Paint) -> str:
    """The review of ``head``, ending with a newline."""
    lines = _lines(head, review.introduced)
    blocks = [finding_text.render(finding, lines, paint) for finding in review.introduced]
    if review.fixed:
        blocks.append("\n".join([paint("Fixed by this change", Style.GREEN), *map(_short, review.fixed)]))
    blocks += ["\n".join(_memory(pair, paint)) for pair in review.estimates]
    blocks.append(_summary(review, paint))
    return "\n\n".join(blocks) + "\n"


def _lines(snapshot: Snapshot, findings: Iterable[LocatedFinding]) -> finding_text.Lines:
    paths = {path for finding in findings for path in (finding.path, *(step.path for step in finding.evidence))}
    return lines_of(snapshot, {path: path for path in paths})


def _short(finding: LocatedFinding) -> str:
    return f"  {printable(finding.file)}:{finding.line}: {printable(finding.message)} [{finding.rule}]"


def _memory(pair: EstimatePair, paint: Paint) -> Iterator[str]:
    before, after = _peak(pair.base), _peak(pair.head)
    moved = f" ({change(before, after)})" if before is not None and after is not None and change(before, after) else ""
    yield f"{paint('Memory', Style.BOLD)} {printable(pair.entry)}: peak {_size(before)} -> {_size(after)}{moved}"
    old = {} if pair.base is None else {fit.gpu: fit.verdict.value for fit in pair.base.fits}
    for fit in () if pair.head is None else pair.head.fits:
        verdict = fit.verdict.value
        was = old.get(fit.gpu, verdict)
        yield f"  {fit.gpu}: {_VERDICTS[verdict]}" + (f" (before: {_VERDICTS[was]})" if was != verdict else "")
    for remedy in () if pair.head is None else pair.head.remedies:
        if remedy.fits:
            yield f"  would fit: {printable(remedy.change)} (peak {size(remedy.peak_bytes)}; {printable(remedy.cost)})"


def _peak(estimate: Estimate | None) -> int | None:
    return None if estimate is None or estimate.memory is None else estimate.memory.peak_bytes


def _size(count: int | None) -> str:
    return "unknown" if count is None else size(count)


def _summary(review: Review, paint: Paint) -> str:
    introduced = counted(len(review.introduced), "finding") + " introduced"
    rest = f"{len(review.fixed)} fixed, {len(review.existing)} already there"
    read = f"{counted(review.files, 'file')}, {counted(review.rules, 'rule')}"
    silenced = f", {len(review.suppressed)} suppressed" if review.suppressed else ""
    compared = f"{review.head[:12]} against {review.merge_base[:12]}"
    return f"{paint(introduced, Style.BOLD)}, {rest}{silenced} in {read} ({compared})."
