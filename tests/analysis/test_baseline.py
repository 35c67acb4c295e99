"""A baseline hides what it holds by fingerprint, counts it, and says what it is not."""

from __future__ import annotations

import pytest

from analysis.baseline import Baseline, BaselineError, from_bytes, to_bytes
from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

TRAIN = b"""import torch
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in range(9):
    model(torch.ones(1, 1)).sum().backward()
    optimizer.step()
"""


def report(code: bytes):
    return analyse(Snapshot.of({"train.py": code}), discover())


def test_what_was_there_is_hidden_wherever_it_moved_to() -> None:
    before = report(TRAIN)
    kept = from_bytes(to_bytes(Baseline.of(before.findings)))
    moved = kept.hide(report(b"# one line more\n" + TRAIN))
    assert before.findings
    assert moved.findings == ()
    assert len(moved.baselined) == len(before.findings)
    assert kept.gone(moved, ["train.py"]) == ()


def test_what_is_new_stays() -> None:
    kept = Baseline.of(each for each in report(TRAIN).findings if each.rule != "missing-zero-grad")
    assert [each.rule for each in kept.hide(report(TRAIN)).findings] == ["missing-zero-grad"]


def test_what_was_mended_is_gone() -> None:
    kept = Baseline.of(report(TRAIN).findings)
    mended = kept.hide(report(TRAIN.replace(b"    model(", b"    optimizer.zero_grad()\n    model(")))
    assert [entry.rule for entry in kept.gone(mended, ["train.py"])] == ["missing-zero-grad"]
    assert kept.gone(mended, ["other.py"]) == ()


def test_a_comment_that_silences_nothing_has_a_name_too() -> None:
    found = report(b"# preflight: ignore-file[retained-graph] once\n" + TRAIN.replace(b"    model(", b"    optimizer.zero_grad()\n    model("))
    assert all(each.fingerprint for each in found.findings)
    assert Baseline.of(found.findings).hide(found).findings == ()


def test_an_empty_one_is_written_and_read() -> None:
    assert from_bytes(to_bytes(Baseline())) == Baseline()


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"{", "is not JSON: line 1"),
        (b"\xff", "is not UTF-8: byte 0"),
        (b"[]", "is not a baseline"),
        (b'{"version": 2, "findings": []}', "of version 2"),
        (b'{"version": 1, "findings": [{"rule": "x"}]}', "finding 1 needs the strings"),
        (b"[" * 100_000, "nested too deep"),
    ],
)
def test_what_is_none_is_told_in_a_clause(raw: bytes, says: str) -> None:
    with pytest.raises(BaselineError, match=says):
        from_bytes(raw)
