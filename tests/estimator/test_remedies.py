"""Remedies: each is estimated anew, what fits comes first, and the micro-batch keeps the number of samples a step."""

from __future__ import annotations

import pytest

from analysis.certainty import Assumed, Known, Unknown
from estimator import catalog
from estimator.possible_changes import bigger_card, candidates
from estimator.remedies import Trial, rank, remedies
from tests.estimator.estimates import GIB, config, memory

T4 = catalog.gpu("T4")
A100 = catalog.gpu("A100")


def kinds(**settings) -> list[str]:
    return [change.kind for change in candidates(config(**settings))]


def test_only_what_can_help_is_tried():
    assert kinds(batch_size=Known(1), attention=Known("sdpa"), precision=Known("amp-bf16"), optimizer=Known("sgd"), checkpointing=Known(value=True)) == []
    assert set(kinds(attention=Known("eager"))) == {"attention", "fused-optimizer", "precision", "micro-batch", "checkpointing", "8-bit-optimizer"}


def test_what_is_unknown_is_not_guessed():
    assert "micro-batch" not in kinds(batch_size=Unknown("not found"))
    assert "checkpointing" not in kinds(checkpointing=Unknown("not found"))


@pytest.mark.parametrize(("batch", "steps"), [(8, 1), (6, 4), (7, 1)])
def test_a_smaller_micro_batch_keeps_the_samples_of_a_step(batch: int, steps: int):
    changes = [change for change in candidates(config(batch_size=Known(batch), accumulation_steps=Known(steps))) if change.kind == "micro-batch"]
    assert changes
    assert {change.overrides["batch_size"] * change.overrides["accumulation_steps"] for change in changes} == {batch * steps}
    assert changes[-1].overrides["batch_size"] == 1


def test_a_card_without_bf16_is_offered_fp16():
    [on_t4] = [change for change in candidates(config(), T4) if change.kind == "precision"]
    [on_a100] = [change for change in candidates(config(), A100) if change.kind == "precision"]
    assert (on_t4.overrides["precision"], on_a100.overrides["precision"]) == ("amp-fp16", "amp-bf16")


def test_sharding_needs_devices():
    assert "sharding" not in kinds()
    assert "sharding" in kinds(devices=Known(8))


def rerun_as(sizes):
    """A stand-in for the estimator: the peak by what was overridden, in GiB; None for what it cannot estimate."""

    def rerun(overrides):
        peak = sizes(dict(overrides))
        return None if peak is None else (config(**{name: Known(value) for name, value in overrides.items()}), memory(round(peak * GIB)))

    return rerun


def test_the_largest_micro_batch_that_fits_is_offered():
    found = remedies(config(batch_size=Known(64)), memory(40 * GIB), T4, rerun_as(lambda by: 40 * by["batch_size"] / 64 if "batch_size" in by else None))
    assert [(one.change.split(":")[0], one.fits) for one in found] == [("Batch size 16 with 4 accumulation steps", True)]
    assert found[0].peak_bytes == 10 * GIB
    assert found[0].saves_bytes == 30 * GIB


def test_what_fits_comes_before_what_only_saves_and_the_cheapest_first():
    peaks = {"optimizer": 39, "precision": 25, "batch_size": 12, "checkpointing": 10}
    found = remedies(config(), memory(40 * GIB), T4, rerun_as(lambda by: peaks[next(iter(by))]))
    assert [one.fits for one in found] == [True, True, False, False]
    assert found[0].change.startswith("Batch size")
    assert found[1].change == "Gradient checkpointing"


def test_what_saves_nothing_is_not_offered():
    assert remedies(config(), memory(20 * GIB), T4, rerun_as(lambda _: 20)) == ()


def test_nothing_is_tried_where_only_an_assumption_is_in_the_way():
    assumed = config(batch_size=Assumed(8, "no loader was found"))
    assert remedies(assumed, memory(10 * GIB), T4, rerun_as(lambda _: 5)) == ()


def test_where_no_single_change_is_enough_several_are_joined():
    def peak(by: dict) -> float:
        return 60 - 25 * ("precision" in by) - 25 * ("checkpointing" in by)

    found = remedies(config(batch_size=Known(1)), memory(60 * GIB), T4, rerun_as(peak))
    assert found[0].fits
    assert found[0].change.endswith("autocast with a GradScaler, and gradient checkpointing")
    assert found[0].peak_bytes == 10 * GIB


def test_a_bigger_card_is_the_smallest_that_fits():
    change = bigger_card(memory(30 * GIB), catalog.gpus())
    assert change is not None
    assert catalog.gpu(change.overrides["gpu"]).usable_bytes < 34 * GIB
    assert bigger_card(memory(900 * GIB), catalog.gpus()) is None


def test_rank_shows_one_change_of_a_kind():
    changes = [change for change in candidates(config(batch_size=Known(8))) if change.kind == "micro-batch"]
    trials = [Trial(change, config(), memory(GIB * change.overrides["batch_size"])) for change in changes]
    assert len(rank(trials, memory(8 * GIB), T4)) == 1
