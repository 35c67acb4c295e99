"""Both runs through an iteration, as a Mermaid chart: how high memory stands on the way, before and after."""

from __future__ import annotations

from collections.abc import Iterable

from bot.review.result import EstimatePair
from estimator.estimate import Estimate

_GIB = 1 << 30
#: In the order in which an iteration goes through them.
_ORDER = ("forward", "backward", "optimizer_step", "decode")


def phases_chart(pair: EstimatePair) -> list[str]:
    """The lines of a fenced block; [] where less than two points are known of the head."""
    after, before = _course(pair.head), _course(pair.base)
    if after:
        return _chart(after, before, "over one iteration", f'"{_passed(pair.head)}" 0 --> 100')
    return _by_phase(pair)


def _by_phase(pair: EstimatePair) -> list[str]:
    """The peaks of the phases, where that is all that is known."""
    phases, former = _phases(pair.head), _phases(pair.base)
    names = [name for name in _ORDER if name in phases]
    if len(names) < 2:  # noqa: PLR2004  # a single point is no line
        return []
    axis = ", ".join(f'"{name.replace("_", " ")}"' for name in names)
    before = [former.get(name, 0) for name in names] if former else []
    return _chart([phases[name] for name in names], before, "at the peak of each phase", f"[{axis}]")


def _chart(after: Iterable[int], before: Iterable[int], when: str, axis: str) -> list[str]:
    """The head as bars, the base as a line: Mermaid draws no legend, so the title says which is which."""
    bars, line = list(after), list(before)
    title = f"Allocated {when}, in GiB: head as bars" + (", base as a line" if line else "")
    highest = max([*bars, *line])
    lines = ["xychart-beta", f'    title "{title}"', f"    x-axis {axis}", f'    y-axis "GiB" 0 --> {highest / _GIB * 1.1:.1f}', f"    bar [{_values(bars)}]"]
    return ["```mermaid", *lines, *([f"    line [{_values(line)}]"] if line else []), "```"]


def _passed(estimate: Estimate | None) -> str:
    """What the axis goes through."""
    names = [name.replace("_", " ") for name in _ORDER if name in _phases(estimate)]
    return f"% of the allocations of {', '.join(names)}"


def _course(estimate: Estimate | None) -> tuple[int, ...]:
    return () if estimate is None or estimate.memory is None else estimate.memory.course


def _phases(estimate: Estimate | None) -> dict[str, int]:
    return {} if estimate is None or estimate.memory is None else dict(estimate.memory.phases)


def _values(heights: Iterable[int]) -> str:
    return ", ".join(f"{height / _GIB:.2f}" for height in heights)
