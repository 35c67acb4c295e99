"""The chart holds both runs, phase by phase, and is left out where there is nothing to draw."""

from __future__ import annotations

from dataclasses import replace

from analysis.snapshot import Snapshot
from bot.review.phases_chart import phases_chart
from bot.review.result import EstimatePair
from estimator.estimate import Estimate
from estimator.request import Request
from estimator.run import estimate
from tests.bot.review.test_memory_suggestion import CODE, LARGER


def estimated(text: str) -> Estimate:
    return estimate(Snapshot.of({"train.py": text.encode()}), Request(entry="train.py"))[0]


def heights(chart: list[str]) -> list[list[float]]:
    return [[float(each) for each in line.partition("[")[2].rstrip("]").split(",")] for line in chart if line.lstrip().startswith(("bar", "line"))]


def by_phase(found: Estimate) -> Estimate:
    assert found.memory is not None
    return replace(found, memory=replace(found.memory, course=()))


def test_both_runs_through_an_iteration() -> None:
    before, after = estimated(CODE), estimated(LARGER)
    chart = phases_chart(EstimatePair("train.py", before, after))
    assert chart[:2] == ["```mermaid", "xychart-beta"]
    assert '    x-axis "% of the allocations of forward, backward, optimizer step" 0 --> 100' in chart
    bars, line = heights(chart)
    assert (len(bars), len(line)) == (24, 24)
    assert after.memory is not None
    assert max(bars) == round(after.memory.allocated_bytes / (1 << 30), 2)
    assert max(line) < max(bars)
    assert bars[0] < max(bars) > bars[-1]


def test_both_runs_by_phase() -> None:
    chart = phases_chart(EstimatePair("train.py", by_phase(estimated(CODE)), by_phase(estimated(LARGER))))
    assert '    x-axis ["forward", "backward", "optimizer step"]' in chart
    bars, line = heights(chart)
    assert (len(bars), len(line), max(line) < max(bars)) == (3, 3, True)


def test_nothing_to_draw() -> None:
    after = estimated(CODE)
    assert after.memory is not None
    assert phases_chart(EstimatePair("train.py", None, None)) == []
    assert phases_chart(EstimatePair("train.py", None, replace(after, memory=replace(after.memory, phases=(), course=())))) == []
    assert not any("base" in line for line in phases_chart(EstimatePair("train.py", None, after)))
