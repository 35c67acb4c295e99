"""A copy to the host whose result is dropped waits for the device, as timing code does: no move was meant."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import discarded_move
from analysis.snapshot import Snapshot

PROGRAM = """
import time
import torch
from torch.utils.data import DataLoader

def train(net, dataset):
    net.cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for clip, species in DataLoader(dataset):
        begun = time.time()
        clip = clip.cuda()
        species = species.long()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(clip), species.cuda())
        loss.backward()
        optimizer.step()
        {dropped}
        print(time.time() - begun)
"""


@pytest.mark.parametrize(
    ("dropped", "found"),
    [("loss.cpu()", False), ("loss.to('cpu')", False), ("species.cuda()", True), ("species.to('cuda')", True)],
)
def test_only_a_dropped_move_to_the_device_is_reported(dropped, found):
    program = PROGRAM.format(dropped=dropped)
    report = analyse(Snapshot.of({"train.py": program.encode()}), [discarded_move.RULE])
    assert bool(report.findings) is found
