"""Estimates as plain text for a terminal; colours, where there is a terminal, are for the caller to add."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from estimator.estimate import Estimate, Memory
from estimator.report.wording import VERDICT_WORDS, parts, peak_phase, shown_settings, size


def as_text(estimates: Iterable[Estimate]) -> str:
    """All estimates, a blank line between them."""
    return "\n\n".join("\n".join(_lines(estimate)) for estimate in estimates)


def _lines(estimate: Estimate) -> Iterator[str]:
    yield f"{estimate.entry} ({estimate.mode.value})" + (f" as {estimate.started_at} starts it" if estimate.started_at else "")
    yield from _table(shown_settings(estimate))
    if estimate.memory is None:
        yield "  Peak memory: cannot tell."
    else:
        yield from _memory(estimate.memory)
    for unknown in estimate.unknowns:
        yield f"  Not known: {unknown}"
    yield from _table([(fit.gpu, f"{VERDICT_WORDS[fit.verdict]} ({size(fit.usable_bytes)} usable)") for fit in estimate.fits])
    for remedy in estimate.remedies:
        fitting = "fits" if remedy.fits else "still does not fit"
        less = f", {size(remedy.saves_bytes)} less" if remedy.saves_bytes else ""
        yield f"  Try: {remedy.change}. Peak {size(remedy.peak_bytes)}{less}, {fitting}. Cost: {remedy.cost}"


def _memory(memory: Memory) -> Iterator[str]:
    low, high = memory.interval.low, memory.interval.high
    yield f"  Peak memory: {size(memory.peak_bytes)} (between {size(low)} and {size(high)}) in {peak_phase(memory)}; {size(memory.allocated_bytes)} allocated"
    frozen = memory.parameters - memory.trainable_parameters
    yield f"  {memory.parameters:,} parameters" + (f", {memory.trainable_parameters:,} of them trained" if frozen else "")
    yield from _table([(name, size(count)) for name, count in parts(memory.components)], indent="    ")
    yield from _table([(str(holder.place), f"{size(holder.bytes)}  {holder.what}") for holder in memory.largest], indent="    ")


def _table(rows: list[tuple[str, str]], indent: str = "  ") -> Iterator[str]:
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        yield f"{indent}{name:<{width}}  {value}"
