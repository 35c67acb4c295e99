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
