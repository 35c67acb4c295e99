"""Estimates as Markdown: one section an entry point, a table of components and one of cards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from estimator.estimate import Estimate, Memory
from estimator.report.wording import VERDICT_WORDS, parts, peak_phase, shown_settings, size


def as_markdown(estimates: Iterable[Estimate]) -> str:
    """All estimates, one section each, ending with a newline."""
    return "\n".join("\n".join(_lines(estimate)) for estimate in estimates) + "\n"


def _lines(estimate: Estimate) -> Iterator[str]:
    yield f"### {_code(estimate.entry)} ({estimate.mode.value})" + (f" as {_code(estimate.started_at)} starts it" if estimate.started_at else "")
    yield ""
    yield from _table(("Setting", "Read as"), [(name, _cell(value)) for name, value in shown_settings(estimate)])
    if estimate.memory is None:
        yield "**Peak memory: cannot tell.**"
        yield ""
    else:
        yield from _memory(estimate.memory)
    yield from _list(f"Not known: {unknown}" for unknown in estimate.unknowns)
    yield from _table(("GPU", "Usable", "Verdict"), [(_cell(fit.gpu), size(fit.usable_bytes), VERDICT_WORDS[fit.verdict]) for fit in estimate.fits])
    yield from _list(
        f"**{remedy.change}**: {size(remedy.peak_bytes)}, {size(remedy.saves_bytes)} less{', fits' if remedy.fits else ''}. {remedy.cost}"
        for remedy in estimate.remedies
    )


def _memory(memory: Memory) -> Iterator[str]:
    ends = f"{size(memory.interval.low)} to {size(memory.interval.high)}"
    yield f"**Peak memory: {size(memory.peak_bytes)}** ({ends}), in {peak_phase(memory)}; {size(memory.allocated_bytes)} allocated."
    yield ""
    yield from _table(("Held at the peak", "Bytes"), [(name, size(count)) for name, count in parts(memory.components)])
    yield from _table(("Line", "Holds", "What"), [(_code(str(holder.place)), size(holder.bytes), _cell(holder.what)) for holder in memory.largest])


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    if not rows:
        return
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _list(items: Iterable[str]) -> Iterator[str]:
    lines = [f"- {item}" for item in items]
    if lines:
        yield from lines
        yield ""


def _cell(value: str) -> str:
    """Text that came from a repository, made harmless inside a table cell."""
    return value.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").replace("@", "@\u200b")


def _code(value: str) -> str:
    return f"`{value.replace('`', '').replace('|', '').strip()}`"
