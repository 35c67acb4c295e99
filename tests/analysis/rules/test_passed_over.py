"""Forwards on one rank, one-cycle schedules and seeds of workers: each program was once passed over, its twin is right."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

SHOWN = """
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

@torch.no_grad()
def show(model, x):
    print(model(x))

def main(net, loader):
    dist.init_process_group("nccl")
    model = FSDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        {guard}show(model, x)
"""
ONE_CYCLE = """
import torch
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader

def train(net, dataset, epochs={epochs}, every=4):
    loader = DataLoader(dataset, batch_size=8, shuffle=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = OneCycleLR(optimizer, 0.1, epochs=epochs, steps_per_epoch={steps})
    for epoch in range(epochs):
        for i, x in enumerate(loader):
            (net(x).mean() / every).backward()
            if (i + 1) % every == 0 or i + 1 == len(loader):
                optimizer.step()
                optimizer.zero_grad()
                schedule.step()
"""
WORKERS = """
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i] + {draw}

def seed_worker(worker_id):
    {seed}

def train(net, x):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in DataLoader(Noisy(x), batch_size=8, shuffle=True, num_workers=4, worker_init_fn=seed_worker):
        optimizer.zero_grad()
        net(batch).mean().backward()
        optimizer.step()
"""


PREPARED = """
import os
import torch
import torch.distributed as dist

def prepare(path):
    if dist.get_rank() == 0:
        if not os.path.exists(path):
            torch.save(torch.randn(64, 8), path)
{inside}        dist.barrier()
    else:
        dist.barrier()
    return torch.load(path)

def main(net, path):
    dist.init_process_group("nccl")
    net = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in prepare(path).split(8):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""


def found(program: str, rule: str) -> bool:
    snapshot = Snapshot.of({"train.py": program.encode()})
    return bool(analyse(snapshot, [each for each in discover() if each.name == rule]).findings)


def test_one_rank_alone_runs_a_sharded_model():
    assert found(SHOWN.format(guard="if dist.get_rank() == 0: "), "rank-conditional-collective")
    assert not found(SHOWN.format(guard=""), "rank-conditional-collective")


def test_a_file_that_is_there_leads_past_the_barrier():
    assert found(PREPARED.format(inside="    "), "rank-conditional-collective")
    assert not found(PREPARED.format(inside=""), "rank-conditional-collective")


@pytest.mark.parametrize("epochs", ["20", "int(input())"])
def test_one_cycle_of_micro_batches_moves_with_updates(epochs):
    assert found(ONE_CYCLE.format(epochs=epochs, steps="len(loader)"), "scheduler-interval")
    assert not found(ONE_CYCLE.format(epochs=epochs, steps="len(loader) // every"), "scheduler-interval")


@pytest.mark.parametrize(
    ("draw", "seed"), [("np.random.normal()", "np.random.seed(42)"), ("np.random.rand()", "import random; random.seed(0); np.random.seed(0)")]
)
def test_workers_that_are_seeded_alike_draw_alike(draw, seed):
    assert found(WORKERS.format(draw=draw, seed=seed), "worker-rng-copies")


@pytest.mark.parametrize(
    ("draw", "seed"),
    [
        ("np.random.normal()", "np.random.seed(42 + worker_id)"),
        ("np.random.normal()", "np.random.seed(torch.initial_seed() % 2**32)"),
        ("torch.randn(1)", "np.random.seed(42)"),
        ("0.1", "np.random.seed(42)"),
    ],
)
def test_workers_that_are_not_do_not(draw, seed):
    assert not found(WORKERS.format(draw=draw, seed=seed), "worker-rng-copies")
