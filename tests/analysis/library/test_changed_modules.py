"""Modules that stand in a change and that no training of the repository reaches: they are called by an imagined one."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.entries import Entry
from analysis.library.program import RESERVE, Tracing, trace_program
from analysis.library.running import Ran
from analysis.rules import double_softmax, nll_without_log
from analysis.snapshot import Snapshot

LOSS = b"""
import torch
from torch import nn

class Scored(nn.Module):
    def __init__(self, chosen=None):
        super().__init__()
        self.loss = nn.CrossEntropyLoss()
        self.chosen = chosen

    def forward(self, scores, labels):
        if self.chosen is not None:
            scores = scores[..., self.chosen].softmax(dim=-1)
        return self.loss(scores, labels)

class Whole(nn.Module):
    def forward(self, scores, labels):
        return nn.functional.nll_loss(scores.softmax(dim=-1), labels)
"""
USED = b"""
import torch
from losses import Scored

criterion = Scored()
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in torch.utils.data.DataLoader(torch.load("a.pt"), shuffle=True):
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
"""


def _said(rule, changed):
    snapshot = Snapshot.of({"losses.py": LOSS, "train.py": USED})
    return [each for trace in trace_program(snapshot, index(snapshot), ["losses.py", "train.py"], changed) for each in rule.check(trace)]


def test_a_module_of_the_change_that_nothing_reaches_is_run():
    assert _said(nll_without_log.RULE, ["losses.py"])
    assert not _said(nll_without_log.RULE, ["train.py"])


def test_a_module_of_the_change_is_run_with_what_it_asks_for():
    assert _said(double_softmax.RULE, ["losses.py"])
    assert not _said(double_softmax.RULE, ["train.py"])


@pytest.mark.parametrize(("path", "left"), [("losses.py", RESERVE), ("train.py", 0)])
def test_what_other_files_take_too_much_is_not_taken_from_the_change(path, left):
    snapshot = Snapshot.of({"losses.py": LOSS, "train.py": USED})
    tracing = Tracing(snapshot, index(snapshot), ["losses.py", "train.py"], ["losses.py"])
    tracing.add(Ran(steps=10_000_000), Entry("train.py"))
    assert abs(tracing.steps_for(Entry(path)) - left) <= 1


HEAD = b"""
import torch
from torch import nn

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, features):
        return self.linear(features)%s
"""
MEASURING = b"""
from torch import nn
from head import Head

class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Head()
        self.objective = nn.CrossEntropyLoss()

    def forward(self, features, labels):
        return self.objective(self.head(features), labels)
"""


def _said_of_the_head(activation):
    snapshot = Snapshot.of({"head.py": HEAD % activation, "expert.py": MEASURING})
    traces = trace_program(snapshot, index(snapshot), ["head.py", "expert.py"], ["head.py"])
    return [each for trace in traces for each in double_softmax.RULE.check(trace)]


def test_what_takes_the_loss_of_a_module_of_the_change_is_run():
    assert _said_of_the_head(b".softmax(dim=-1)")
    assert not _said_of_the_head(b"")
