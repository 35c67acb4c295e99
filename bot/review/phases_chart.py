"""Both runs over an iteration, as a Mermaid chart: how high memory stands in each phase, before and after."""

from __future__ import annotations

from bot.review.result import EstimatePair
from estimator.estimate import Estimate

_GIB = 1 << 30
#: In the order in which an iteration goes through them.
_ORDER = ("forward", "backward", "optimizer_step", "decode")


def phases_chart(pair: EstimatePair) -> list[str]:
    """The lines of a fenced block; [] where less than two phases are known of the head."""
    after, before = _phases(pair.head), _phases(pair.base)
    names = [name for name in _ORDER if name in after]
    if len(names) < 2:  # noqa: PLR2004  # a single point is no line
        return []
    highest = max([*after.values(), *before.values()])
    axis = ", ".join(f'"{name.replace("_", " ")}"' for name in names)
    series = [f"    bar [{_values(after, names)}]"]
    if before:
        series.append(f"    line [{_values(before, names)}]")
    title = "Allocated at the peak of each phase, in GiB: head as bars" + (", base as a line" if before else "")
    lines = ["xychart-beta", f'    title "{title}"', f"    x-axis [{axis}]", f'    y-axis "GiB" 0 --> {highest / _GIB * 1.1:.1f}', *series]
    return ["```mermaid", *lines, "```"]


def _phases(estimate: Estimate | None) -> dict[str, int]:
    return {} if estimate is None or estimate.memory is None else dict(estimate.memory.phases)


def _values(phases: dict[str, int], names: list[str]) -> str:
    return ", ".join(f"{phases.get(name, 0) / _GIB:.2f}" for name in names)
