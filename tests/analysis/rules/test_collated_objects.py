"""What a function that is not followed puts together, as a part of a batch or of tensors: whether that is a tensor is not known."""

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
        {moved}.to("cuda")
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(clip), species).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("collate", "moved", "found"),
    [("", "clip", True), (", collate_fn=together", "clip", False), ("", "net.tokenizer(clip)", False), ("", "together(clip)", False), ("", "net(clip)", True)],
)
def test_moving_may_change_an_object_of_the_program(collate, moved, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(collate=collate, moved=moved).encode()}), [discarded_move.RULE])
    assert [finding.rule for finding in report.findings] == ["discarded-move"] * found
