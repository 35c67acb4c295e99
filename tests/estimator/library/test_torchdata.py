"""Loaders made of nodes, and loaders whose position can be saved."""

from __future__ import annotations

import pytest

from tests.estimator.script.running import estimated

HEAD = """
import torch
from torch import nn
from torchdata.nodes import Batcher, IterableWrapper, Loader, MultiNodeWeightedSampler, ParallelMapper, Prefetcher
from torchdata.stateful_dataloader import StatefulDataLoader
from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler

rows = [torch.zeros(64) for _ in range(100)]
"""
NODES = """
sources = {"a": IterableWrapper(rows), "b": IterableWrapper(rows)}
node = ParallelMapper(MultiNodeWeightedSampler(sources, {"a": 0.5, "b": 0.5}), map_fn=lambda row: row * 2)
loader = Loader(Prefetcher(ParallelMapper(Batcher(node, 16), map_fn=torch.stack), 2))
"""
STATEFUL = """
loader = StatefulDataLoader(rows, batch_size=16, sampler=StatefulDistributedSampler(rows, num_replicas=1, rank=0))
loader.load_state_dict(loader.state_dict())
"""
LOOP = """
model = nn.Linear(64, 10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in loader:
    model(batch.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize("loader", [NODES, STATEFUL])
def test_the_batch_size_is_the_loaders(loader):
    found = estimated(HEAD + loader + LOOP)
    assert (found.config.batch_size.value, found.memory.parameters) == (16, 650)
