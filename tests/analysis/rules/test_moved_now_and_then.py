"""A constant that is moved to the device where samples are drawn: in every step it is worth a word, every so many steps it is not."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import repeated_transfer
from analysis.snapshot import Snapshot

PROGRAM = """
import torch

class Sampler:
    def __init__(self, steps):
        self.times = 1 - torch.linspace(0, 1, steps)

    def draw(self, net):
        return net(self.times.to("cuda"))

def train(loader, every):
    net = torch.nn.Linear(50, 50).cuda()
    sampler = Sampler(50)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x.cuda()), y.cuda()).backward()
        optimizer.step()
        if {condition}:
            with torch.no_grad():
                sampler.draw(net)
"""


@pytest.mark.parametrize(("condition", "found"), [("step % every == 0", False), ("step % 500 == 0", False), ("step >= 0", True)])
def test_only_what_is_moved_in_every_step(condition, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(condition=condition).encode()}), [repeated_transfer.RULE])
    assert [finding.rule for finding in report.findings] == ["repeated-transfer"] * found
