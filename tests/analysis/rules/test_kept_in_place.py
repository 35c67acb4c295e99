"""Tensors that are added to where they stand: what they take in lives as long as they do."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import retained_graph
from analysis.snapshot import Snapshot

PROGRAM = """
import torch

class Totals:
    def __init__(self):
        self.kept = {{"loss": torch.zeros(1)}}

    def of(self, name):
        return self.kept[name]

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    totals = Totals()
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        {added}
        loss.backward()
        optimizer.step()
    print(totals.of("loss"))
"""


@pytest.mark.parametrize(
    ("added", "found"),
    [
        ('totals.of("loss").add_(loss)', True),
        ('totals.of("loss").add_(loss.detach())', False),
        ('totals.of("loss").add_(loss).detach_()', False),
        ('totals.of("loss").copy_(loss.detach())', False),
        ("loss.add_(model(x).square().mean())", False),
    ],
)
def test_a_total_that_is_added_to_in_place_keeps_graphs(added, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(added=added).encode()}), [retained_graph.RULE])
    assert [finding.rule for finding in report.findings] == ["retained-graph"] * found
