"""Two estimates of one entry point: what moved, by how much, and the line that moved it."""

from __future__ import annotations

import pytest

from analysis.certainty import Known, Place, Unknown
from estimator.compare import compare
from estimator.estimate import Fit, Verdict
from tests.estimator.estimates import GIB, MIB, estimate, memory

FIT, NO_FIT = Fit("T4", 15 * GIB, Verdict.FITS), Fit("T4", 15 * GIB, Verdict.DOES_NOT_FIT)


def test_what_moved_is_listed_largest_first():
    base = estimate(memory(6 * GIB, parameters=GIB, fragmentation=100 * MIB))
    head = estimate(memory(12 * GIB, parameters=GIB, fragmentation=300 * MIB), batch_size=Known(64, Place("train.py", 5)))
    comparison = compare(base, head)
    assert [(change.name, change.delta) for change in comparison.components] == [("activations", 6 * GIB - 200 * MIB), ("fragmentation", 200 * MIB)]
    assert comparison.peak_delta == 6 * GIB
    assert comparison.allocated_delta == 6 * GIB - 200 * MIB


def test_the_setting_that_changed_comes_with_its_line():
    comparison = compare(estimate(memory()), estimate(memory(), batch_size=Known(64, Place("config.yaml", 2))))
    [change] = comparison.settings
    assert (change.name, change.base, change.head, change.place) == (
        "batch_size",
        Known(8, Place("train.py", 5)),
        Known(64, Place("config.yaml", 2)),
        Place("config.yaml", 2),
    )


def test_a_line_that_only_moved_is_no_change():
    comparison = compare(estimate(memory()), estimate(memory(), batch_size=Known(8, Place("train.py", 50))))
    assert not comparison.settings
    assert not comparison.moved


def test_a_setting_that_is_no_longer_said_is_a_change():
    comparison = compare(estimate(memory()), estimate(memory(), batch_size=Unknown("args.batch comes from the caller")))
    assert [(change.name, change.place) for change in comparison.settings] == [("batch_size", Place("train.py", 5))]


def test_a_card_that_no_longer_holds_the_run():
    comparison = compare(estimate(memory(), fits=(FIT,)), estimate(memory(), fits=(NO_FIT,)))
    [change] = comparison.fits
    assert (change.base, change.head) == (FIT.verdict, NO_FIT.verdict)
    assert comparison.moved
    assert not compare(estimate(memory(), fits=(NO_FIT,)), estimate(memory(), fits=(NO_FIT,))).moved


def test_the_line_that_holds_more():
    comparison = compare(estimate(memory(6 * GIB)), estimate(memory(7 * GIB)))
    assert [(change.place, change.what, change.delta) for change in comparison.holders] == [(Place("model.py", 40), "attention scores", GIB)]


@pytest.mark.parametrize(("base", "head"), [(None, estimate(memory())), (estimate(memory()), None), (estimate(), estimate(memory()))])
def test_one_side_alone_has_no_difference(base, head):
    comparison = compare(base, head)
    assert comparison.peak_delta is None
    assert comparison.components == ()
    assert comparison.entry == "train.py"


def test_nothing_to_compare_is_an_error():
    with pytest.raises(ValueError, match="neither side"):
        compare(None, None)
