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
    for x, y in loader:
        out = net(x.cuda())
        total = 0
        for k in range(8):
            total += {asked}
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(out, y.cuda()).backward()
        optimizer.step()
    print(total)
"""


@pytest.mark.parametrize(("asked", "found"), [("len(out[k])", False), ("out[k].__len__()", False), ("out[k].shape[0]", False), ("out[k].sum().item()", True)])
def test_lengths(asked, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(asked=asked).encode()}), [sync_in_hot_loop.RULE])
    assert bool(report.findings) is found
