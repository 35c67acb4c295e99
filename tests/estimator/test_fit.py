"""The verdict: both ends of the interval against the card, and never more than borderline where an assumed size decides."""

from __future__ import annotations

import pytest

from analysis.certainty import Assumed
from estimator import catalog
from estimator.estimate import Verdict
from estimator.fit import fit, fits
from tests.estimator.estimates import GIB, config, memory

A100 = catalog.gpu("A100-80GB")
T4 = catalog.gpu("T4")
SIZE = A100.usable_bytes


@pytest.mark.parametrize(
    ("peak", "doubt", "verdict"),
    [
        (SIZE // 2, 0.1, Verdict.FITS),
        (SIZE, 0.0, Verdict.FITS),
        (SIZE, 0.01, Verdict.BORDERLINE),
        (SIZE * 2, 0.1, Verdict.DOES_NOT_FIT),
    ],
)
def test_the_ends_of_the_interval_decide(peak: int, doubt: float, verdict: Verdict):
    assert fit(memory(peak, doubt=doubt), config(), A100).verdict is verdict


def test_an_unresolved_model_cannot_be_told():
    assert fit(None, config(), A100).verdict is Verdict.CANNOT_TELL


@pytest.mark.parametrize("size", ["batch_size", "sequence_length", "image_size"])
@pytest.mark.parametrize("peak", [SIZE // 10, SIZE * 2])
def test_an_assumed_size_is_at_most_borderline(size: str, peak: int):
    assumed = config(**{size: Assumed(8, "no loader was found")})
    assert fit(memory(peak), assumed, A100).verdict is Verdict.BORDERLINE


def test_weights_that_do_not_fit_do_not_fit_at_any_size():
    assumed = config(batch_size=Assumed(8, "no loader was found"))
    held = memory(SIZE * 2, parameters=SIZE // 2, optimizer_state=SIZE)
    assert fit(held, assumed, A100).verdict is Verdict.DOES_NOT_FIT


def test_another_card_has_another_context():
    peak = T4.usable_bytes + 100 * (1 << 20)
    # Stated with 450 MiB of context; on a T4 it is 141 MiB, so this still fits.
    assert fit(memory(peak), config(), T4).verdict is Verdict.FITS


def test_cards_keep_their_order_and_say_what_is_usable():
    verdicts = fits(memory(20 * GIB), config(), [T4, A100])
    assert [(one.gpu, one.usable_bytes, one.verdict) for one in verdicts] == [
        ("T4", T4.usable_bytes, Verdict.DOES_NOT_FIT),
        ("A100-80GB", A100.usable_bytes, Verdict.FITS),
    ]
