"""The interval: named causes widen it, the context belongs to the card, and the parts add up to the peak."""

from __future__ import annotations

from dataclasses import fields

import pytest

from estimator import catalog
from estimator.estimate import Components, Interval
from estimator.interval import Cause, Peak, allocated_interval, context_on, memory_of, peak_interval

MIB = 1 << 20
GIB = 1 << 30


def peak(allocated: int = 4 * GIB, reserved: int = 5 * GIB) -> Peak:
    return Peak(1, 1, Components(parameters=GIB, activations=allocated - GIB), allocated, reserved, "backward")


def test_the_components_add_up_to_the_peak():
    memory = memory_of(peak(), context_on(None))
    assert sum(getattr(memory.components, field.name) for field in fields(Components)) == memory.peak_bytes == 5 * GIB + 450 * MIB
    assert memory.components.fragmentation == GIB
    assert memory.allocated_bytes == 4 * GIB


def test_components_that_do_not_add_up_are_an_error():
    with pytest.raises(ValueError, match="add up to 1073741824 bytes, but 2147483648 are allocated"):
        memory_of(Peak(1, 1, Components(parameters=GIB), 2 * GIB, 2 * GIB, "forward"), context_on(None))


def test_the_point_lies_in_its_interval():
    memory = memory_of(peak(), context_on(None))
    assert memory.allocated_interval.low < memory.allocated_bytes < memory.allocated_interval.high
    assert memory.interval.low < memory.peak_bytes < memory.interval.high


def test_a_cause_widens_both_intervals_by_its_bytes():
    plain, doubted = memory_of(peak(), context_on(None)), memory_of(peak(), context_on(None), [Cause("a padded mask", 10 * MIB, 90 * MIB)])
    assert doubted.allocated_interval.high - plain.allocated_interval.high == 90 * MIB
    assert plain.allocated_interval.low - doubted.allocated_interval.low == 10 * MIB
    assert doubted.interval.high - plain.interval.high == 90 * MIB


def test_the_lower_end_is_never_below_what_is_allocated():
    context = context_on(None, given=0)
    interval = peak_interval(4 * GIB, allocated_interval(4 * GIB), (), context)
    assert interval.low == allocated_interval(4 * GIB).low


def test_the_context_is_the_cards():
    assert context_on(catalog.gpu("T4")).bytes == 141 * MIB
    assert context_on(None).bytes == context_on(catalog.gpu("A100")).bytes == 450 * MIB
    assert context_on(None).interval == Interval(300 * MIB, 600 * MIB)


def test_a_given_context_is_not_in_doubt():
    given = context_on(catalog.gpu("T4"), given=200 * MIB)
    assert (given.bytes, given.interval) == (200 * MIB, Interval(200 * MIB, 200 * MIB))
