"""The search for cycles is seldom for a while, and then as it was."""

import gc

import pytest

from analysis.garbage import seldom_collected


def test_thresholds_are_put_back():
    before = gc.get_threshold()
    with seldom_collected():
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before


def test_a_function_that_raises_puts_them_back_too():
    @seldom_collected()
    def fails() -> None:
        raise ValueError("no")

    before = gc.get_threshold()
    with pytest.raises(ValueError, match="no"):
        fails()
    assert gc.get_threshold() == before
