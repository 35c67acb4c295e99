"""One rank's share: what each strategy divides is divided, what runs is whole, and the parts add up."""

from __future__ import annotations

from dataclasses import fields

import pytest

from estimator.estimate import Components
from estimator.interval import Peak
from estimator.sharding import STRATEGIES, Whole, per_rank

GIB = 1 << 30
#: Two gibibytes of 16-bit parameters and gradients, eight of state, four of activations; the step's temporaries are two.
WHOLE = Whole(parameters=2 * GIB, gradients=2 * GIB, state=8 * GIB, buffers=0, unit=GIB // 8, gradients_in_backward=GIB)
PEAK = Peak(
    1, 1, Components(parameters=2 * GIB, gradients=GIB, optimizer_state=8 * GIB, activations=4 * GIB), 15 * GIB, 16 * GIB, "backward"
)  # fmt: skip
PHASES = {"forward": 14 * GIB, "backward": 15 * GIB, "optimizer_step": 14 * GIB}


@pytest.mark.parametrize(
    ("strategy", "gib"),
    [
        ("zero1", 2 + 1 + 4 + 1),  # parameters, an eighth of the state, activations, and the gradients that are there at the peak
        ("zero2", 2 + 1 + 4 + 1 / 8),
        ("zero3", 2 / 8 + 1 + 4 + 1 / 8 + 3 / 8),  # two gathered units, and the gradient of the one that runs
        ("fsdp", 2 / 8 + 1 + 4 + 1 / 8 + 3 / 8),
    ],
)
def test_each_strategy_divides_what_it_shards(strategy, gib):
    found, _ = per_rank(PEAK, PHASES, WHOLE, strategy, 8)
    assert found.allocated_bytes == gib * GIB
    assert found.peak_at == "backward"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("devices", [2, 8, 64])
def test_the_parts_add_up_and_the_layout_is_in_doubt(strategy, devices):
    found, cause = per_rank(PEAK, PHASES, WHOLE, strategy, devices)
    assert sum(getattr(found.components, field.name) for field in fields(Components)) == found.allocated_bytes < PEAK.allocated_bytes
    assert found.reserved_bytes >= found.allocated_bytes
    assert cause.above >= cause.below > 0


def test_without_activations_the_step_is_the_peak():
    phases = {"forward": 10 * GIB, "backward": 12 * GIB, "optimizer_step": 14 * GIB}
    found, _ = per_rank(PEAK, phases, WHOLE, "zero1", 8)
    assert found.peak_at == "optimizer_step"
    assert found.allocated_bytes == (2 + 2 + 1 + 2 / 8) * GIB
