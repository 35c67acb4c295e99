"""The JSON of a review says everything, and reads back to the same review."""

from __future__ import annotations

import json
from dataclasses import replace

from analysis.settings import Settings
from bot.review.result import EstimatePair
from bot.review.review_json import rendered_json, review_from_json, review_to_json
from tests.bot.review.examples import CHANGE, QUIET, SMALLER, UNRESOLVED


def test_round_trip() -> None:
    whole = replace(CHANGE, estimates=(*CHANGE.estimates, EstimatePair("new.py", None, UNRESOLVED), EstimatePair("old.py", SMALLER, None)))
    assert review_from_json(json.loads(json.dumps(review_to_json(whole)))) == whole


def test_what_is_printed() -> None:
    printed = rendered_json(CHANGE, Settings())
    assert printed["version"] == 1
    assert printed["introduced"][0]["fix"]["edits"] == [
        {"path": "train.py", "start_line": 9, "start_column": 18, "end_line": 9, "end_column": 22, "text": "loss.item()"}
    ]
    head = printed["estimates"][0]["head"]
    assert head["config"]["batch_size"] == {"value": 64, "source": "train.py:12", "certainty": "known"}
    assert sum(head["memory"].values()) == head["peak_bytes"]
    assert "no longer fits" in printed["comment"]
    assert "Introduced by this change" in printed["summary"]


def test_no_news_prints_no_comment() -> None:
    assert rendered_json(QUIET, Settings())["comment"] is None


def test_unresolved_memory_is_null() -> None:
    unresolved = review_to_json(replace(QUIET, estimates=(EstimatePair("train.py", None, UNRESOLVED),)))["estimates"][0]["head"]
    assert unresolved["peak_bytes"] is None
    assert set(unresolved["memory"].values()) == {None}
