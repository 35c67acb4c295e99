"""The sentence that answers the question: how much memory now, and does it still fit."""

from __future__ import annotations

from bot.review.result import EstimatePair
from bot.review.sizes import noticeable
from bot.review.text import code, plain, prose
from estimator.estimate import Estimate, Fit, Verdict
from estimator.report.wording import size

STATES: dict[Verdict, str] = {
    Verdict.FITS: "fits",
    Verdict.BORDERLINE: "may not fit",
    Verdict.DOES_NOT_FIT: "does not fit",
    Verdict.CANNOT_TELL: "cannot be told for",
}


def headline(pair: EstimatePair) -> str:
    """One sentence in Markdown, e.g. "Peak memory of `train.py` goes from 9.8 GiB to 41.2 GiB: no longer fits T4 …."."""
    entry = code(pair.entry)
    if pair.head is None:
        return f"{entry} no longer trains a model."
    if pair.head.memory is None:
        missing = f": {prose(pair.head.unknowns[0])}" if pair.head.unknowns else ""
        return f"The peak memory of {entry} cannot be told{missing.rstrip('.')}."
    after = pair.head.memory.peak_bytes
    before = None if pair.base is None or pair.base.memory is None else pair.base.memory.peak_bytes
    if before is None:
        sentence = f"Peak memory of {entry} is {size(after)}"
    elif noticeable(before, after):
        sentence = f"Peak memory of {entry} goes from {size(before)} to {size(after)}"
    else:
        sentence = f"Peak memory of {entry} stays at {size(after)}"
    verdicts = "; ".join(_verdicts(pair.base, pair.head))
    return f"{sentence}: {verdicts}." if verdicts else f"{sentence}."


def verdict_changed(pair: EstimatePair) -> bool:
    """Whether a card's verdict differs between base and head."""
    return pair.base is not None and pair.head is not None and bool(_transitions(pair.base, pair.head))


def card(fit: Fit) -> str:
    """The card and what a process can have of it."""
    return f"{plain(fit.gpu)} ({size(fit.usable_bytes)} usable)"


def _verdicts(base: Estimate | None, head: Estimate) -> list[str]:
    """What changed for a card; where nothing did, how things stand."""
    if base is None or base.memory is None:
        return [f"{STATES[fit.verdict]} {card(fit)}" for fit in head.fits]
    moved = _transitions(base, head)
    return moved or [f"still {STATES[fit.verdict]} {card(fit)}" for fit in head.fits]


def _transitions(base: Estimate, head: Estimate) -> list[str]:
    before = {fit.gpu: fit.verdict for fit in base.fits}
    return [_transition(before[fit.gpu], fit) for fit in head.fits if fit.gpu in before and before[fit.gpu] is not fit.verdict]


def _transition(before: Verdict, fit: Fit) -> str:
    match before, fit.verdict:
        case Verdict.FITS, Verdict.DOES_NOT_FIT:
            return f"no longer fits {card(fit)}"
        case Verdict.FITS, Verdict.BORDERLINE:
            return f"may no longer fit {card(fit)}"
        case _:
            return f"now {STATES[fit.verdict]} {card(fit)}"
