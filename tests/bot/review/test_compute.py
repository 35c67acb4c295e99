"""Two snapshots make a review: what the change brings, ends and leaves, and what it does to memory."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from analysis.scope import scope_of
from analysis.settings import EntrySettings, Settings
from analysis.snapshot import Snapshot
from bot.review.compute import review
from bot.review.pairs import entry_points
from bot.review.review_json import review_from_json, review_to_json
from estimator.estimate import Verdict

MODEL = """\
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, 4096), nn.ReLU(), nn.Linear(4096, 10))

    def forward(self, x):
        return self.body(x)
"""
TRAIN = """\
import torch
from torch import nn
from model import Net

BATCH = 8
torch.manual_seed(0)
model = Net(1024).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    optimizer.zero_grad()
    x = torch.randn(BATCH, 1024, device="cuda")
    y = torch.zeros(BATCH, dtype=torch.long, device="cuda")
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
"""
UNCLEARED = TRAIN.replace("    optimizer.zero_grad()\n", "")
SETTINGS = Settings(gpus=("T4",), select=("missing-zero-grad", "retained-graph", "double-softmax"))


def snapshot(commit: str, **files: str) -> Snapshot:
    return Snapshot.of({f"{name}.py": text.encode() for name, text in files.items()}, commit * 40)


CLEAN = snapshot("b", model=MODEL, train=TRAIN)


def test_a_finding_is_introduced_then_existing_then_fixed() -> None:
    bad = snapshot("a", model=MODEL, train=UNCLEARED)
    moved = snapshot("d", model=MODEL, train="# A comment that moves every line.\n" + UNCLEARED)
    introduced = review(CLEAN, bad, SETTINGS, "c" * 40)
    assert [finding.rule for finding in introduced.introduced] == ["missing-zero-grad"]
    assert (introduced.base, introduced.head, introduced.merge_base) == ("c" * 40, "a" * 40, "b" * 40)
    existing = review(bad, moved, SETTINGS)
    assert (existing.introduced, [finding.rule for finding in existing.existing]) == ((), ["missing-zero-grad"])
    fixed = review(bad, CLEAN, SETTINGS)
    assert (fixed.introduced, [finding.rule for finding in fixed.fixed]) == ((), ["missing-zero-grad"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_base_that_is_looked_at_apart_gives_the_same_review() -> None:
    bad = snapshot("a", model=MODEL.replace("4096", "2048"), train=UNCLEARED)
    for before, after in ((CLEAN, bad), (bad, CLEAN), (CLEAN, CLEAN)):
        assert review(before, after, SETTINGS, apart=True) == review(before, after, SETTINGS)


def test_a_file_that_cannot_be_read_any_more_fixes_nothing() -> None:
    broken = snapshot("a", model=MODEL, train=UNCLEARED + "def broken(:\n")
    result = review(snapshot("b", model=MODEL, train=UNCLEARED), broken, SETTINGS)
    assert result.fixed == ()
    assert [remark.path for remark in result.not_analysed] == ["train.py"]


def test_a_change_outside_training_code_is_not_analysed() -> None:
    base = snapshot("b", model=MODEL, train=TRAIN, tool="print('hello')\n")
    result = review(base, snapshot("a", model=MODEL, train=TRAIN, tool="print('bye')\n"), SETTINGS)
    assert (result.files, result.estimates, result.introduced) == (0, (), ())


def test_memory_moves_with_the_model_file_alone() -> None:
    wider = snapshot("a", model=MODEL.replace("4096", "8192"), train=TRAIN)
    (pair,) = review(CLEAN, wider, SETTINGS).estimates
    assert pair.entry == "train.py"
    assert pair.base is not None
    assert pair.head is not None
    assert pair.base.memory is not None
    assert pair.head.memory is not None
    assert pair.base.memory.parameters == 1024 * 4096 + 4096 + 4096 * 10 + 10
    assert pair.head.memory.parameters == 1024 * 8192 + 8192 + 8192 * 10 + 10
    assert pair.head.memory.peak_bytes > pair.base.memory.peak_bytes
    assert [fit.verdict for fit in pair.head.fits] == [Verdict.FITS]


def test_an_unknown_card_or_rule_is_reported_and_stops_nothing() -> None:
    settings = replace(SETTINGS, gpus=("T4000",), ignore=("no-such-rule",))
    result = review(CLEAN, snapshot("a", model=MODEL, train=UNCLEARED), settings)
    assert [finding.rule for finding in result.introduced] == ["missing-zero-grad"]
    assert any("no-such-rule" in problem for problem in result.problems)
    assert any("T4000" in problem for problem in result.problems)
    assert len(result.estimates) == 1


def test_entry_points_are_those_that_nobody_imports_or_those_configured() -> None:
    head = snapshot("a", model=MODEL.replace("4096", "8192"), train=TRAIN, other=TRAIN)
    scope = scope_of(snapshot("b", model=MODEL, train=TRAIN, other=TRAIN), head)
    assert entry_points(head, scope, Settings(), {}) == ("other.py", "train.py")
    assert entry_points(head, scope, Settings(entry_points=("o*.py",)), {}) == ("other.py",)


def test_nobody_asks_what_a_test_needs() -> None:
    head = snapshot("a", model=MODEL.replace("4096", "8192"), train=TRAIN, test_model=TRAIN)
    scope = scope_of(snapshot("b", model=MODEL, train=TRAIN, test_model=TRAIN), head)
    assert "test_model.py" in scope.entries
    assert entry_points(head, scope, Settings(), {}) == ("train.py",)
    assert entry_points(head, scope, Settings(entry_points=("test_*.py",)), {}) == ("test_model.py",)


def test_among_many_entry_points_those_that_train_come_first() -> None:
    idle = {f"a{number}": f"import torch\nx = {number}\n" for number in range(20)}
    head = snapshot("a", train=TRAIN.replace("BATCH = 8", "BATCH = 80"), model=MODEL, **{name: text + "y = 1\n" for name, text in idle.items()})

    result = review(snapshot("b", train=TRAIN, model=MODEL, **idle), head, SETTINGS)

    assert [pair.entry for pair in result.estimates] == ["train.py"]
    assert any("8 of 21 entry points" in problem for problem in result.problems)


def test_a_renamed_file_introduces_nothing() -> None:
    result = review(snapshot("b", model=MODEL, train=UNCLEARED), snapshot("a", model=MODEL, trainer=UNCLEARED), SETTINGS)

    assert (result.introduced, result.fixed) == ((), ())
    assert "missing-zero-grad" in {finding.rule for finding in result.existing}


def test_settings_of_one_entry_point_hold_for_it() -> None:
    settings = Settings(gpus=("T4",), entry={"train.py": EntrySettings(gpus=("A100-80GB",))})
    (pair,) = review(CLEAN, snapshot("a", model=MODEL, train=TRAIN.replace("BATCH = 8", "BATCH = 80")), settings).estimates
    assert pair.head is not None
    assert [fit.gpu for fit in pair.head.fits] == ["A100-80GB"]


def test_the_same_commits_give_the_same_review_and_it_survives_json() -> None:
    bad = snapshot("a", model=MODEL, train=UNCLEARED)
    first, second = (review(CLEAN, bad, SETTINGS) for _ in range(2))
    assert first == second
    assert review_from_json(review_to_json(first)) == first


def test_fixes_are_tried_for_what_the_change_introduces() -> None:
    twice = UNCLEARED.replace("cross_entropy(model(x), y)", "cross_entropy(torch.softmax(model(x), 1), y)")
    bad, worse = snapshot("a", model=MODEL, train=UNCLEARED), snapshot("d", model=MODEL, train=twice)
    found = review(bad, worse, SETTINGS)
    assert [(finding.rule, finding.fix is None) for finding in found.introduced] == [("double-softmax", False)]
    assert [finding.rule for finding in found.existing] == ["missing-zero-grad"]
    assert found.existing[0].fix is None
    assert "was there before" in (found.existing[0].no_fix_because or "")
