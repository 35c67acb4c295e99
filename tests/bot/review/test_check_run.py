"""The check run reports what was understood, what was not, and every finding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from analysis.settings import FailOn, Settings
from bot.review.annotation import Annotation, Batch, annotate, batches
from bot.review.check_run import CheckOutput, check_output
from bot.review.limits import OUTPUT_CHARACTERS, TooLongError
from bot.review.located import Remark
from tests.bot.review.examples import CHANGE, NO_FIX, QUESTION, QUIET, RETAINED, finding


def test_a_change_with_findings(golden: Callable[[str, str], None]) -> None:
    output = check_output(CHANGE, Settings())
    assert output.title == "3 findings introduced, 1 fixed, memory of 1 entry point changes"
    golden("check_run.md", output.summary + "\n")


def test_nothing_found(golden: Callable[[str, str], None]) -> None:
    output = check_output(QUIET, Settings())
    assert (output.conclusion, output.title) == ("success", "Nothing found in the training code")
    golden("check_run_quiet.md", output.summary + "\n")


@pytest.mark.parametrize(
    ("fail_on", "conclusion"),
    [(None, "neutral"), (FailOn.NEVER, "neutral"), (FailOn.ERROR, "neutral"), (FailOn.WARNING, "failure"), (FailOn.NOTICE, "failure")],
)
def test_fail_on_decides_the_conclusion(fail_on: FailOn | None, conclusion: str) -> None:
    review = replace(CHANGE, introduced=(QUESTION,))
    assert check_output(review, Settings(fail_on=fail_on)).conclusion == conclusion


def test_a_finding_of_the_base_is_not_introduced() -> None:
    review = replace(QUIET, existing=(NO_FIX,))
    output = check_output(review, Settings(fail_on=FailOn.NOTICE))
    assert (output.conclusion, output.title) == ("success", "1 finding already there")
    assert "Introduced" not in output.summary


def test_what_was_understood_is_said_in_a_line() -> None:
    line = "**Understood:** entry point `train.py`, card `T4`, 1 value assumed, 1 place not followed, 1 thing that the estimate does not know."
    assert line in check_output(CHANGE, Settings()).summary
    assert "`assume = { sequence_length = 1024 }`" in check_output(CHANGE, Settings()).summary
    (pair,) = CHANGE.estimates
    assert pair.head is not None
    sure = replace(CHANGE, unresolved=(), estimates=(replace(pair, head=replace(pair.head, unknowns=())),))
    assert "1 value assumed, everything followed." in check_output(sure, Settings()).summary
    assert "Understood" not in check_output(replace(CHANGE, estimates=()), Settings()).summary


def test_the_summary_says_whether_findings_fail_it() -> None:
    assert "Findings do not fail this check (`fail-on` would)." in check_output(CHANGE, Settings()).summary
    assert "This check fails from error on (`fail-on`)." in check_output(CHANGE, Settings(fail_on=FailOn.ERROR)).summary
    assert "fail-on" not in check_output(QUIET, Settings()).summary


def test_a_long_summary_is_cut() -> None:
    remarks = tuple(Remark("train.py", line, "x" * 5_000) for line in range(1, 40))
    output = check_output(replace(CHANGE, unresolved=remarks, not_analysed=remarks), Settings())
    assert len(output.summary) <= OUTPUT_CHARACTERS
    assert output.summary.count("<details>") == output.summary.count("</details>")


def test_limits_hold_in_the_types() -> None:
    with pytest.raises(TooLongError, match="65,536 characters"):
        CheckOutput("success", "title", "x" * (OUTPUT_CHARACTERS + 1))
    with pytest.raises(ValueError, match="on one line"):
        Annotation("a.py", 1, 2, "notice", "title", "message", "", (1, 2))
    with pytest.raises(ValueError, match="50 annotations"):
        Batch((annotate(RETAINED, None),) * 51)


def test_annotations_carry_the_way_and_the_patch() -> None:
    annotation = annotate(RETAINED, "        total += loss.item()\n").to_json()
    assert (annotation["annotation_level"], annotation["start_column"], annotation["end_column"]) == ("failure", 9, 21)
    assert annotation["raw_details"] == (
        "How it gets there\nmodel.py:31: the loss is on the graph\ntrain.py:9: `total += loss` keeps it\n\n"
        "Store the number, not the graph\n        total += loss.item()\n"
    )
    assert annotate(NO_FIX, None).raw_details == "No patch is offered: the sampler is built elsewhere"


def test_annotations_go_in_batches_and_resume_where_they_stopped() -> None:
    annotations = [annotate(finding(line=line), None) for line in range(1, 121)]
    assert [len(batch.annotations) for batch in batches(annotations)] == [50, 50, 20]
    resumed = list(batches(annotations, already_sent=50))
    assert [batch.annotations[0].start_line for batch in resumed] == [51, 101]
    assert list(batches(annotations, already_sent=120)) == []


def test_a_long_message_is_cut_to_bytes() -> None:
    annotation = annotate(finding(message="é" * 60_000), None)
    assert len(annotation.message.encode()) <= 64 * 1024
