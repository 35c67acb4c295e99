"""Mistakes of one process in the forms in which people write them: each program was once passed over, its twin is right."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

HISTORY = """
import torch

class History:
    def __init__(self):
        self.seen = []

    def on_step(self, runner):
        self.seen.append({kept})  # here

class Runner:
    def __init__(self, net, loader):
        self.net, self.loader, self.loss = net, loader, None
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.callbacks = [History()]

    def fire(self, name):
        for each in self.callbacks:
            getattr(each, name)(self)

    def fit(self):
        for x in self.loader:
            self.loss = self.net(x).mean()
            self.optimizer.zero_grad()
            self.loss.backward()
            self.optimizer.step()
            self.fire("on_step")

Runner(torch.nn.Linear(4, 1), torch.utils.data.DataLoader([torch.zeros(4)])).fit()
"""
EXPERTS = """
import torch
from torch import nn

class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = {kept}(nn.Linear(4, 4) for _ in range(3))  # here

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        return sum(weights[:, i : i + 1] * expert(x) for i, expert in enumerate(self.experts))

def train(loader):
    net = Experts()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""
MASKED = """
import torch

def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, seen in loader:
        scores = net(x)
        {kept}torch.where(seen, scores, torch.zeros_like(scores))  # here
        optimizer.zero_grad()
        scores.mean().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("rule", "program", "wrong", "right"),
    [
        ("retained-graph", HISTORY, "runner.loss", "runner.loss.item()"),
        ("unregistered-modules", EXPERTS, "tuple", "nn.ModuleList"),
        ("discarded-result", MASKED, "", "scores = "),
    ],
)
def test_each_form_is_found_and_its_right_twin_is_not(rule, program, wrong, right):
    rules = [each for each in discover() if each.name == rule]
    place = next(number for number, line in enumerate(program.splitlines(), 1) if line.endswith("# here"))
    assert _lines(rules, program.format(kept=wrong)) == [place]
    assert _lines(rules, program.format(kept=right)) == []


def _lines(rules, program):
    snapshot = Snapshot.of({"train.py": program.encode()})
    source = snapshot.source("train.py")
    return [source.line_of(finding.span.start) for finding in analyse(snapshot, rules).findings]
