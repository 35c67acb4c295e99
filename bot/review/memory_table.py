"""The table of the memory comment: a row per component and per card, base beside head."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from bot.review.headline import card
from bot.review.result import EstimatePair
from bot.review.sizes import change
from bot.review.text import cell, code
from estimator.estimate import Estimate, Fit, Memory, Verdict
from estimator.report.wording import size

_LABELS = {
    "parameters": "Parameters",
    "gradients": "Gradients",
    "optimizer_state": "Optimizer state",
    "activations": "Activations",
    "kv_cache": "KV cache",
    "temporary": "Temporary",
    "buffers": "Buffers",
    "context": "CUDA context",
    "fragmentation": "Fragmentation",
}
_ANSWERS = {
    Verdict.FITS: "yes",
    Verdict.BORDERLINE: "borderline",
    Verdict.DOES_NOT_FIT: "**no**",
    Verdict.CANNOT_TELL: "cannot tell",
}
_ABSENT = "-"


def memory_table(pair: EstimatePair) -> str:
    """A Markdown table: base, head and change side by side, or one column where there is only one side."""
    before, after = _memory(pair.base), _memory(pair.head)
    rows = [*_component_rows(before, after), _peak_row(before, after), _moment_row(before, after), *_fit_rows(pair)]
    if before is None or after is None:
        shown = [f"| {row.label} | {row.base if after is None else row.head} |" for row in rows]
        return "\n".join([f"| {cell(code(pair.entry))} | {'base' if after is None else 'head'} |", "|---|--:|", *shown])
    shown = [f"| {row.label} | {row.base} | {row.head} | {row.change} |" for row in rows]
    return "\n".join([f"| {cell(code(pair.entry))} | base | head | change |", "|---|--:|--:|--:|", *shown])


@dataclass(frozen=True, slots=True)
class _Row:
    label: str
    base: str
    head: str
    change: str = ""


def _component_rows(before: Memory | None, after: Memory | None) -> list[_Row]:
    left = {} if before is None else asdict(before.components)
    right = {} if after is None else asdict(after.components)
    return [
        _Row(label, size(left.get(name, 0)), size(right.get(name, 0)), change(left[name], right[name]) if left and right else "")
        for name, label in _LABELS.items()
        if left.get(name) or right.get(name)
    ]


def _peak_row(before: Memory | None, after: Memory | None) -> _Row:
    moved = change(before.peak_bytes, after.peak_bytes) if before and after else ""
    return _Row("**Peak**", _peak(before), _peak(after), moved)


def _moment_row(before: Memory | None, after: Memory | None) -> _Row:
    """When the peak is reached: a component may seem to come or go only because the peak moved to another phase."""
    left, right = (_ABSENT if memory is None else memory.peak_at.replace("_", " ") for memory in (before, after))
    return _Row("Reached in", left, right)


def _peak(memory: Memory | None) -> str:
    """The peak, and its interval where that says more."""
    if memory is None:
        return _ABSENT
    low, high = size(memory.interval.low), size(memory.interval.high)
    return f"**{size(memory.peak_bytes)}**" + (f" ({low} to {high})" if low != high else "")


def _fit_rows(pair: EstimatePair) -> list[_Row]:
    before, after = _fits(pair.base), _fits(pair.head)
    return [_Row(f"Fits {cell(card(after.get(gpu) or before[gpu]))}", _answer(before.get(gpu)), _answer(after.get(gpu))) for gpu in {**before, **after}]


def _answer(fit: Fit | None) -> str:
    return _ABSENT if fit is None else _ANSWERS[fit.verdict]


def _fits(estimate: Estimate | None) -> dict[str, Fit]:
    return {} if estimate is None else {fit.gpu: fit for fit in estimate.fits}


def _memory(estimate: Estimate | None) -> Memory | None:
    return None if estimate is None else estimate.memory
