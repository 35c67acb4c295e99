"""The memory comment answers first, and stays silent when nothing moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from analysis.settings import Relative, Settings
from bot.review.comment import estimate_section, memory_comment
from bot.review.headline import headline
from bot.review.limits import BODY_CHARACTERS
from bot.review.result import EstimatePair, Review
from estimator.estimate import Estimate, Fit, Verdict
from tests.bot.review.examples import CHANGE, GIB, LARGER, QUIET, SMALLER, UNRESOLVED, estimate

SETTINGS = Settings()


def compared(base: Estimate | None, head: Estimate | None) -> Review:
    return replace(QUIET, estimates=(EstimatePair("train.py", base, head),))


def test_a_change_that_no_longer_fits(golden: Callable[[str, str], None]) -> None:
    comment = memory_comment(CHANGE, SETTINGS)
    assert comment is not None
    assert comment.news
    golden("comment_no_longer_fits.md", comment.body + "\n")


def test_one_side_alone_has_one_column(golden: Callable[[str, str], None]) -> None:
    golden("comment_answer.md", estimate_section(LARGER) + "\n")


def test_nothing_moved_is_no_news(golden: Callable[[str, str], None]) -> None:
    comment = memory_comment(QUIET, SETTINGS)
    assert comment is not None
    assert not comment.news
    golden("comment_unchanged.md", comment.body + "\n")


def test_no_entry_point_no_comment() -> None:
    assert memory_comment(replace(QUIET, estimates=()), SETTINGS) is None


def test_the_threshold_decides_what_is_news() -> None:
    slightly = replace(LARGER, fits=SMALLER.fits)
    assert slightly.memory is not None
    for fraction, news in ((0.01, True), (99.0, False)):
        comment = memory_comment(compared(SMALLER, slightly), Settings(memory_threshold=Relative(fraction)))
        assert comment is not None
        assert comment.news is news


@pytest.mark.parametrize(
    ("base", "head", "sentence"),
    [
        (SMALLER, LARGER, "Peak memory of `train.py` goes from 8.0 GiB to 50.0 GiB: no longer fits T4 (15.0 GiB usable)."),
        (LARGER, SMALLER, "Peak memory of `train.py` goes from 50.0 GiB to 8.0 GiB: now fits T4 (15.0 GiB usable)."),
        (SMALLER, SMALLER, "Peak memory of `train.py` stays at 8.0 GiB: still fits T4 (15.0 GiB usable)."),
        (None, LARGER, "Peak memory of `train.py` is 50.0 GiB: does not fit T4 (15.0 GiB usable)."),
        (UNRESOLVED, SMALLER, "Peak memory of `train.py` is 8.0 GiB: fits T4 (15.0 GiB usable)."),
        (SMALLER, UNRESOLVED, "The peak memory of `train.py` cannot be told: the class of `model` \\(hub.load at train.py:7\\)."),
        (SMALLER, None, "`train.py` no longer trains a model."),
        (
            SMALLER,
            estimate(10, 8 * GIB, Verdict.BORDERLINE),
            "Peak memory of `train.py` goes from 8.0 GiB to 10.0 GiB: may no longer fit T4 (15.0 GiB usable).",
        ),
        (replace(SMALLER, fits=()), replace(SMALLER, fits=()), "Peak memory of `train.py` stays at 8.0 GiB."),
    ],
)
def test_headline(base: Estimate | None, head: Estimate | None, sentence: str) -> None:
    assert headline(EstimatePair("train.py", base, head)) == sentence


def test_hostile_names_stay_inert(golden: Callable[[str, str], None]) -> None:
    hostile = replace(LARGER, fits=(Fit("T4|@team <b>", GIB, Verdict.DOES_NOT_FIT),), unknowns=("see #1 --> <img src=x> @all",))
    pair = EstimatePair("a`|b\n@team.py", SMALLER, hostile)
    comment = memory_comment(replace(CHANGE, estimates=(pair,), head="<script>"), SETTINGS)
    assert comment is not None
    golden("comment_hostile.md", comment.body + "\n")


def test_a_long_comment_is_cut_to_what_github_takes() -> None:
    pairs = tuple(EstimatePair(f"train_{number}.py", SMALLER, LARGER) for number in range(100))
    comment = memory_comment(replace(CHANGE, estimates=pairs), SETTINGS)
    assert comment is not None
    assert len(comment.body) <= BODY_CHARACTERS - 200
    assert comment.body.count("<details>") == comment.body.count("</details>")
    assert comment.body.endswith("*Cut here: GitHub takes no longer text.*")
