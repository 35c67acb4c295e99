"""What an option changes stands beside the script as it is written."""

from __future__ import annotations

from analysis.snapshot import Snapshot
from bot.review.estimate_json import estimate_from_json
from bot.review.what_if import what_if
from bot.sources.release import LocalShelf
from bot.worker.tasks import estimate_task
from bot.worker.wire import Task
from tests.bot.review.test_memory_suggestion import LARGER


def answered(*words: str) -> tuple[list[str], dict[str, object]]:
    head = Snapshot.of({"train.py": LARGER.encode()})
    answer = estimate_task(Task("estimate", Snapshot.of({}), head, {}, arguments=words), LocalShelf())
    (asked, *_), written = (list(map(estimate_from_json, answer[name])) for name in ("estimates", "written"))  # type: ignore[call-overload]
    return what_if(written[0] if written else None, asked, words[1:]).splitlines(), answer


def test_as_written_and_as_asked() -> None:
    lines, _ = answered("train.py", "--gpu", "A100-40GB", "--batch-size", "8")
    assert lines[0] == "| `train.py` | peak | change | fits |"
    assert lines[2].startswith("| as written | ")
    assert lines[2].endswith(r"| does not fit A100\-40GB |")
    assert lines[3].startswith("| with `--gpu A100-40GB --batch-size 8` | ")
    assert "| -" in lines[3]
    assert lines[3].endswith(r"| fits A100\-40GB |")


def test_what_would_help_from_there() -> None:
    lines, _ = answered("train.py", "--gpu", "A100-40GB", "--precision", "amp-bf16")
    assert any(line.startswith("| and then: Batch size ") and line.endswith("| yes |") for line in lines)


def test_without_options_there_is_nothing_to_compare() -> None:
    lines, answer = answered("train.py")
    assert (lines, answer["written"]) == ([], [])
