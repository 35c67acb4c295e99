"""One rank's share: what each strategy divides is divided, what runs is whole, and the parts add up."""

from __future__ import annotations

from dataclasses import fields

import pytest

from estimator.estimate import Components
from estimator.interval import Peak
from estimator.sharding import STRATEGIES, Layout, per_rank
from estimator.tape.events import Allocated, Became, Entered, Freed, Kind, Phase

GIB = 1 << 30
UNIT = GIB // 8
#: Two gibibytes of 16-bit parameters and gradients, eight of state, four of activations; the step's temporaries are two.
PARAMETERS, STATE, ACTIVATIONS, GRADIENTS, STEP = range(5)
ITERATION = [
    Entered(Phase.FORWARD),
    Allocated(ACTIVATIONS, 4 * GIB, Kind.ACTIVATIONS, None),
    Entered(Phase.BACKWARD),
    Allocated(GRADIENTS, GIB, Kind.TEMPORARY, None),
    Became(GRADIENTS, Kind.GRADIENTS),
    Allocated(GRADIENTS + 10, GIB, Kind.GRADIENTS, None),
    Freed(ACTIVATIONS),
    Entered(Phase.OPTIMIZER_STEP),
]
FREED = [Freed(GRADIENTS), Freed(GRADIENTS + 10), Entered(Phase.FORWARD)]
LOG = [
    Allocated(PARAMETERS, 2 * GIB, Kind.PARAMETERS, None),
    *ITERATION,
    Allocated(STATE, 8 * GIB, Kind.TEMPORARY, None),
    *FREED,
    *ITERATION,
    Allocated(STEP, 2 * GIB, Kind.TEMPORARY, None),
    Freed(STEP),
    *FREED,
]
PEAK = Peak(1, 1, Components(), 16 * GIB, 17 * GIB, "backward")


def ranked(strategy, devices=8, **layout):
    return per_rank(LOG, PEAK, Layout(strategy, devices, **{"block": UNIT, **layout}), UNIT)


@pytest.mark.parametrize(
    ("strategy", "gib"),
    [
        ("zero1", 2 + 1 + 4 + 2),  # parameters, an eighth of the state, activations, gradients
        ("zero2", 2 + 1 + 4 + 1),  # the first gradient is whole while it is made
        ("zero3", 2 / 8 + 1 + 4 + 1 + 3 / 8),  # two gathered units, and the gradient of the one that runs
        ("fsdp", 2 / 8 + 1 + 4 + 1 + 3 / 8),
    ],
)
def test_each_strategy_divides_what_it_shards(strategy, gib):
    found, _, _ = ranked(strategy)
    assert found.allocated_bytes == gib * GIB
    assert found.peak_at == "backward"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("devices", [2, 8, 64])
def test_the_parts_add_up_and_the_layout_is_in_doubt(strategy, devices):
    found, phases, cause = ranked(strategy, devices)
    assert sum(getattr(found.components, field.name) for field in fields(Components)) == found.allocated_bytes < PEAK.allocated_bytes
    assert found.reserved_bytes >= found.allocated_bytes
    assert found.allocated_bytes == max(phases.values())
    assert cause.above >= cause.below > 0


def test_the_first_iteration_is_not_looked_at():
    _, phases, _ = ranked("zero1", 1)
    assert phases[Phase.BACKWARD] == (2 + 8 + 4 + 2) * GIB


def test_a_block_is_gathered_fetched_and_reduced_and_what_is_in_none_stays_whole():
    found, phases, _ = ranked("fsdp", root=GIB // 4)
    assert phases[Phase.FORWARD] == (2 / 8 + 1 + 4 + 1 / 4 + 2 / 8) * GIB
    assert found.components.temporary == GIB + (1 / 4 + 3 / 8) * GIB


def test_what_is_kept_is_whole_until_its_gradients_are_there():
    _, kept, _ = ranked("fsdp", root=GIB // 4, keeps=True)
    _, freed, _ = ranked("fsdp", root=GIB // 4)
    assert kept[Phase.FORWARD] - freed[Phase.FORWARD] == 2 * GIB - GIB // 2
    assert kept[Phase.OPTIMIZER_STEP] == freed[Phase.OPTIMIZER_STEP]


def test_one_unit_is_whole_with_its_gradients_and_their_buffer_at_the_end_of_backward():
    without = [event for event in LOG if getattr(event, "key", None) != ACTIVATIONS]
    found, phases, _ = per_rank(without, PEAK, Layout("fsdp", 8, root=2 * GIB), UNIT)
    assert found.allocated_bytes == phases[Phase.BACKWARD] == (2 / 8 + 1 + 2 + 2 + 2) * GIB
    assert found.components.gradients == 2 * GIB


def test_what_is_offloaded_takes_nothing_on_the_device():
    state = ranked("zero2", offloads_optimizer=True)[0]
    everything = ranked("zero3", offloads_optimizer=True, offloads_parameters=True)[0]
    assert (state.components.optimizer_state, state.components.gradients) == (0, 0)
    assert state.allocated_bytes == (2 + 4) * GIB + (1 * GIB)  # the gradient that is being made is there for a moment
    assert everything.components.parameters == 0


def test_shards_of_another_type_are_as_many_bytes_larger():
    found = ranked("fsdp", copies=2)[0]
    assert found.components.optimizer_state == 2 * GIB
    assert found.components.parameters == GIB // 2
