"""Parts of a batch that a function of the program's own puts together: whether they are tensors is not known."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import discarded_move
from analysis.snapshot import Snapshot

PROGRAM = """
import torch
from collating import together

def train(net, dataset):
    net.cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for clip, species in torch.utils.data.DataLoader(dataset{collate}):
        clip.to("cuda")
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(clip), species).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("collate", "found"), [("", True), (", collate_fn=together", False)])
def test_moving_may_change_an_object_of_the_program(collate, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(collate=collate).encode()}), [discarded_move.RULE])
    assert [finding.rule for finding in report.findings] == ["discarded-move"] * found
