"""Data sets that draw each item at random: in what order and by how many ranks they are asked makes no difference."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import unsharded_loader, unshuffled_training
from analysis.snapshot import Snapshot

PROGRAM = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

class Windows(Dataset):
    def __init__(self, tokens, length):
        self.tokens, self.length = tokens, length

    def __getitem__(self, index):
        begin = {begin}
        return self.tokens[begin : begin + self.length]

    def __len__(self):
        return len(self.tokens) // self.length

dist.init_process_group("nccl")
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loader = DataLoader(Windows(torch.load("tokens.pt"), 8), batch_size=4, drop_last=True)
for epoch in range(3):
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("begin", "found"), [("torch.randint(0, len(self.tokens), (1,))", False), ("index * self.length", True)])
def test_the_order_of_draws_makes_no_difference(begin: str, found: bool) -> None:  # noqa: FBT001
    program = Snapshot.of({"train.py": PROGRAM.format(begin=begin).encode()})
    for rule in (unsharded_loader.RULE, unshuffled_training.RULE):
        assert [finding.rule for finding in analyse(program, (rule,)).findings] == [rule.name] * found
