"""The way through the iteration that holds the peak, and no other."""

from __future__ import annotations

from estimator.course import course


def test_the_iteration_that_holds_the_peak() -> None:
    first, second = list(range(48)), [100 + height for height in range(24)] + [100 - height for height in range(24)]
    assert course([*first, *second], [48, 96]) == (*range(101, 124, 2), *range(100, 77, -2))


def test_less_than_a_chart_shows() -> None:
    assert course([], []) == ()
    assert course([1, 2, 3], [3]) == ()


def test_evaluations_before_the_forward_are_left_out() -> None:
    evaluation, forward, backward = [10, 90] * 30, list(range(10, 58)), list(range(57, 9, -1))
    heights = [*evaluation, *forward, 100, *backward]
    begins = len(evaluation) + len(forward)
    whole = course([*forward, 100, *backward], [97], [48])
    assert course(heights, [len(heights)], [begins]) == whole
    assert course(heights, [len(heights)]) != whole
