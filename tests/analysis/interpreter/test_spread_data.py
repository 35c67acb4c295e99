"""Data that are passed with ``**``: a parameter that may be left out is given in one run and left out in the other."""

import pytest

from analysis.engine import analyse
from analysis.rules import double_softmax
from analysis.snapshot import Snapshot

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head, self.loss = nn.Linear(8, 2), nn.CrossEntropyLoss()

    def forward(self, x, labels=None):
        scores = self.head(x).softmax(-1)
        if labels is None:
            return scores
        return self.loss(scores, labels)

def train(rows):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in DataLoader(rows, batch_size=4, shuffle=True):
        {moved}
        loss = net(**batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize("moved", ["pass", "batch = {name: value.cuda() for name, value in batch.items()}"])
def test_a_loss_inside_a_forward_that_gets_its_labels_so_is_seen(moved):
    report = analyse(Snapshot.of({"train.py": PROGRAM.replace("{moved}", moved).encode()}), [double_softmax.RULE])
    assert not report.problems
    assert len(report.findings) == 1
