"""The table of ``/preflight estimate``: the script as it is written, as it was asked for, and what would help from there."""

from __future__ import annotations

from bot.review.headline import STATES
from bot.review.sizes import change
from bot.review.text import cell, code, plain, prose
from estimator.estimate import Estimate, Fit, Remedy
from estimator.report.wording import size

_UNKNOWN = "cannot be told"


def what_if(written: Estimate | None, asked: Estimate, words: tuple[str, ...]) -> str:
    """The table in Markdown; "" where there is nothing to compare. ``words`` are the options as they were given."""
    before = None if written is None or written.memory is None else written.memory.peak_bytes
    rows = [] if written is None or not words else [_row("as written", written, None)]
    rows.append(_row(f"with {code(' '.join(words))}" if words else "as written", asked, before if words else None))
    rows += [_remedy_row(remedy, before) for remedy in asked.remedies]
    if len(rows) == 1:
        return ""
    return "\n".join([f"| {cell(code(asked.entry))} | peak | change | fits |", "|---|--:|--:|---|", *rows])


def _row(label: str, estimate: Estimate, before: int | None) -> str:
    if estimate.memory is None:
        return f"| {cell(label)} | {_UNKNOWN} | | |"
    peak = estimate.memory.peak_bytes
    moved = "" if before is None else change(before, peak)
    return f"| {cell(label)} | {size(peak)} | {moved} | {cell('; '.join(map(_fit, estimate.fits)))} |"


def _remedy_row(remedy: Remedy, before: int | None) -> str:
    moved = "" if before is None else change(before, remedy.peak_bytes)
    return f"| and then: {cell(prose(remedy.change))} | {size(remedy.peak_bytes)} | {moved} | {'yes' if remedy.fits else 'no'} |"


def _fit(fit: Fit) -> str:
    return f"{STATES[fit.verdict]} {plain(fit.gpu)}"
