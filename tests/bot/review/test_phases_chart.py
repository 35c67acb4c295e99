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


def test_both_runs_by_phase() -> None:
    before, after = estimated(CODE), estimated(LARGER)
    chart = phases_chart(EstimatePair("train.py", before, after))
    assert chart[:2] == ["```mermaid", "xychart-beta"]
    assert '    x-axis ["forward", "backward", "optimizer step"]' in chart
    heights = [[float(each) for each in line.partition("[")[2].rstrip("]").split(",")] for line in chart if line.lstrip().startswith(("bar", "line"))]
    assert [len(each) for each in heights] == [3, 3]
    assert after.memory is not None
    assert max(heights[0]) == round(after.memory.allocated_bytes / (1 << 30), 2)
    assert max(heights[1]) < max(heights[0])


def test_nothing_to_draw() -> None:
    after = estimated(CODE)
    assert after.memory is not None
    assert phases_chart(EstimatePair("train.py", None, None)) == []
    assert phases_chart(EstimatePair("train.py", None, replace(after, memory=replace(after.memory, phases=())))) == []
    assert not any("base" in line for line in phases_chart(EstimatePair("train.py", None, after)))
