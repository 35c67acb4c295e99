"""The length of a tensor is known to the host: asking for it waits for nothing."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import sync_in_hot_loop
from analysis.snapshot import Snapshot

PROGRAM = """
import torch

def train(net, loader):
    net.cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, boxes in loader:
        boxes = boxes.cuda()
        for k in range(8):
            print({asked})
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x.cuda()), boxes).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("asked", "found"), [("len(boxes[k])", False), ("boxes[k].__len__()", False), ("boxes[k].shape[0]", False), ("boxes[k].sum().item()", True)]
)
def test_lengths(asked, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(asked=asked).encode()}), [sync_in_hot_loop.RULE])
    assert bool(report.findings) is found
