"""Samplers that are told the epoch by whoever has the loop: PyTorch's, those of torchdata, and a program's own."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import missing_set_epoch
from analysis.snapshot import Snapshot

PROGRAM = """
import argparse
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, Sampler
from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler

class Shares(Sampler):
    def __init__(self, length, rank, ranks):
        self.length, self.rank, self.ranks, self.epoch = length, rank, ranks, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        drawn = torch.Generator().manual_seed(self.epoch)
        yield from torch.randperm(self.length, generator=drawn)[self.rank :: self.ranks].tolist()
        {after}

parser = argparse.ArgumentParser()
parser.add_argument("--shuffle", action="store_true")
args = parser.parse_args()
dist.init_process_group("nccl")
data = torch.load("data.pt")
sampler = {sampler}
loader = DataLoader(data, batch_size=4, sampler=sampler)
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(9):
    {before}
    for x in loader:
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
"""
OWN = "Shares(len(data), dist.get_rank(), dist.get_world_size())"


@pytest.mark.parametrize(
    ("sampler", "before", "after", "found"),
    [
        (OWN, "pass", "pass", True),
        (OWN, "sampler.set_epoch(epoch)", "pass", False),
        (OWN, "pass", "self.epoch += 1", False),
        ("StatefulDistributedSampler(data)", "pass", "pass", True),
        ("StatefulDistributedSampler(data)", "sampler.set_epoch(epoch)", "pass", False),
        ("DistributedSampler(data, shuffle=args.shuffle)", "pass", "pass", True),
        ("DistributedSampler(data, shuffle=False)", "pass", "pass", False),
    ],
)
def test_a_sampler_that_draws_by_the_epoch_is_told_it(sampler, before, after, found):
    text = PROGRAM.format(sampler=sampler, before=before, after=after)
    report = analyse(Snapshot.of({"train.py": text.encode()}), [missing_set_epoch.RULE])
    assert [finding.rule for finding in report.findings] == ["missing-set-epoch"] * found
