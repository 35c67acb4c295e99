"""Losses of the micro-batches of one step, kept after their backward: a handful where the list is made anew for each step."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import retained_graph
from analysis.snapshot import Snapshot

PROGRAM = """
import torch

def train(model, batches, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    {outside}
    for epoch in range(3):
        for window in loader:
            {inside}
            optimizer.zero_grad()
            for x, y in window:
                loss = torch.nn.functional.mse_loss(model(x), y)
                (loss / 4).backward()
                losses.append(loss)
            optimizer.step()
            print(sum(losses))
"""


@pytest.mark.parametrize(("outside", "inside", "found"), [("losses = []", "pass", True), ("pass", "losses = []", False)])
def test_what_lasts_for_one_step_does_not_pile_up(outside, inside, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(outside=outside, inside=inside).encode()}), [retained_graph.RULE])
    assert [finding.rule for finding in report.findings] == ["retained-graph"] * found


WINDOW = """
import torch

class Trial:
    def __init__(self):
        self.states = []
        self.net = torch.nn.RNN(4, 4)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def train(self, loader):
        hidden = None
        for x, y in loader:
            self.optimizer.zero_grad()
            out, hidden = self.net(x, None if hidden is None else hidden.detach())
            self.states.append(hidden)
            torch.nn.functional.mse_loss(out, y).backward()
            self.optimizer.step()
            self.states = {kept}

trial = Trial()
for epoch in range(10):
    trial.train(torch.utils.data.DataLoader(torch.load("data.pt"), 2))
"""


@pytest.mark.parametrize(("kept", "found"), [("self.states", True), ("self.states[-1:]", False), ("[]", False)])
def test_a_list_whose_place_a_new_one_takes_does_not_pile_up(kept, found):
    report = analyse(Snapshot.of({"train.py": WINDOW.format(kept=kept).encode()}), [retained_graph.RULE])
    assert [finding.rule for finding in report.findings] == ["retained-graph"] * found
