"""A condition on a number that is called a rank keeps the other ranks out, also where this run has it as a constant."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import every_rank_checkpoint
from analysis.snapshot import Snapshot

PROGRAM = """
import torch
import torch.distributed as dist

class Settings:
    LOCAL_RANK = 0

def save(net, {argument}):
    {guard}torch.save(net.state_dict(), "last.pt")

def main(net, rows):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in rows:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
        dist.all_reduce(x)
    save(net, Settings.LOCAL_RANK)
"""


@pytest.mark.parametrize(
    ("argument", "guard", "found"),
    [
        ("rank", "if rank == 0:\n        ", False),
        ("rank", "if rank != 0:\n        return\n    ", False),
        ("rank", "", True),
        ("number", "if number == 0:\n        ", True),
        ("fabric", "if fabric is None:\n        ", False),
        ("fabric", "if fabric is not None:\n        ", True),
        ("world_size", "if world_size > 1:\n        print(world_size)\n    else:\n        ", False),
    ],
)
def test_called_a_rank(argument, guard, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(argument=argument, guard=guard).encode()}), [every_rank_checkpoint.RULE])
    assert bool(report.findings) is found
