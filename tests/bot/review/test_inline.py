"""The review on the changed lines."""

from __future__ import annotations

from collections.abc import Callable

from bot.review.diff import Diff, Hunk
from bot.review.inline import FINDING, inline_review
from bot.review.marker import Signer, digest
from tests.bot.review.examples import HEAD, NO_FIX, QUESTION, RETAINED, TRAIN, UNCLEARED, edit, finding, fix

SIGNER = Signer((b"secret",), "owner/name#1")
DIFF = Diff({"train.py": (Hunk(3, 10),)})
CONTENTS = {"train.py": TRAIN}


def test_suggestions_come_first_and_say_what_is_asked(golden: Callable[[str, str], None]) -> None:
    review = inline_review((QUESTION, NO_FIX, RETAINED, UNCLEARED), DIFF, CONTENTS, SIGNER, HEAD)
    assert review is not None
    assert review.shown == (UNCLEARED, RETAINED, QUESTION)
    assert [comment.to_json() | {"body": ""} for comment in review.comments] == [
        {"path": "train.py", "line": line, "side": "RIGHT", "body": ""} for line in (7, 9, 5)
    ]
    golden("review.md", "\n\n---\n\n".join([review.body, *(comment.body for comment in review.comments)]) + "\n")


def test_a_range_names_its_start() -> None:
    patched = finding(patch=fix(edit((6, 9), (8, 25), "step(model)")))
    review = inline_review((patched,), DIFF, CONTENTS, SIGNER, HEAD)
    assert review is not None
    sent = review.comments[0].to_json()
    assert (sent["start_line"], sent["start_side"], sent["line"]) == (6, "RIGHT", 8)


def test_a_thread_is_opened_once() -> None:
    posted = {digest(RETAINED.fingerprint)}
    assert inline_review((RETAINED,), DIFF, CONTENTS, SIGNER, HEAD, posted) is None


def test_lines_outside_the_diff_get_no_comment() -> None:
    assert inline_review((RETAINED,), Diff({"train.py": (Hunk(1, 8),)}), CONTENTS, SIGNER, HEAD) is None
    assert inline_review((RETAINED,), Diff({}), CONTENTS, SIGNER, HEAD) is None


def test_at_most_ten() -> None:
    many = tuple(finding(f"rule-{number}", patch=fix(edit((9, 18), (9, 22), "loss.item()"))) for number in range(14))
    review = inline_review(many, DIFF, CONTENTS, SIGNER, HEAD)
    assert review is not None
    assert len(review.comments) == 10
    assert "4 more findings in the check." in review.body


def test_marks_are_found_again() -> None:
    review = inline_review((RETAINED,), DIFF, CONTENTS, SIGNER, HEAD)
    assert review is not None
    assert list(SIGNER.facts("review", review.body)) == [HEAD]
    assert list(SIGNER.facts(FINDING, review.comments[0].body)) == [digest(RETAINED.fingerprint)]
