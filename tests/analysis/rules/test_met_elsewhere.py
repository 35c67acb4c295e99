"""Ranks that seem to miss a collective: they are handed the function, belong to another group, or are not started yet."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import rank_conditional_collective
from analysis.snapshot import Snapshot

STUDY = """
import optuna
import torch
import torch.distributed as dist

def objective(trial):
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.zeros(2, 4)).mean().backward()
    optimizer.step()
    total = torch.zeros(())
    dist.all_reduce(total)
    return total.item()

dist.init_process_group("nccl")
if dist.get_rank() == 0:
    optuna.create_study().{call}
else:
    objective(None)
"""
GROUPED = """
import torch
import torch.distributed as dist

_OWN = None

def own_group():
    return _OWN

def train(net, rows):
    dist.init_process_group("nccl")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in rows:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
        if dist.get_rank() == 0:
            dist.all_reduce(torch.ones(1), group={group})
"""
LAUNCHED = """
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def setup(rank, size):
    dist.init_process_group("nccl", rank=rank, world_size=size)
    dist.barrier()

def work(rank, size):
    setup(rank + 1, size)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    net(torch.zeros(2, 4)).mean().backward()

def launch(size):
    {start}
    if dist.get_rank() == 0:
        setup(0, size)

launch(4)
"""


BUILT_FIRST = """
import torch
import torch.distributed as dist

def synchronize():
    dist.barrier()

def build(path):
    raise NotImplementedError

def main(rows, path):
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        build(path)
        {first}
    else:
        synchronize()
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in rows:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""

PREPARED_ONCE = """
import os
import sys
import torch
import torch.distributed as dist

def load(path):
    if dist.get_rank() != 0:
        dist.barrier()
    if os.path.exists(path):
        rows = torch.load(path)
        if dist.get_rank() == 0:
            {release}
    else:
        rows = [torch.zeros(4)]
        torch.save(rows, path)
        {release}
    return rows

dist.init_process_group("nccl")
rows = load(sys.argv[1])
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in rows:
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("program", "found"),
    [
        (PREPARED_ONCE.format(release="dist.barrier()"), False),
        (PREPARED_ONCE.format(release="dist.all_reduce(torch.ones(1))"), True),
        (BUILT_FIRST.format(first="synchronize()"), False),
        (BUILT_FIRST.format(first="pass"), True),
        (STUDY.format(call="optimize(objective, n_trials=3)"), False),
        (STUDY.format(call="trials_dataframe()"), True),
        (GROUPED.format(group="own_group()"), False),
        (GROUPED.format(group="chosen").replace("    for x in rows", "    chosen = own_group()\n    for x in rows"), False),
        (GROUPED.format(group="chosen").replace("    for x in rows", "    chosen = None\n    for x in rows"), True),
        (GROUPED.format(group="own_group()").replace("group=", "dist.ReduceOp.SUM, "), False),
        (GROUPED.format(group="None"), True),
        (GROUPED.format(group="dist.group.WORLD"), True),
        (GROUPED.format(group="net.tensor_parallel_group"), False),
        (LAUNCHED.format(start="mp.spawn(work, nprocs=size - 1, args=(size,), join=False)"), False),
        (LAUNCHED.format(start="work(0, size)"), True),
    ],
)
def test_ranks_may_come_another_way(program, found):
    report = analyse(Snapshot.of({"train.py": program.encode()}), [rank_conditional_collective.RULE])
    assert bool(report.findings) is found


EVALUATED = """
import torch
import torch.distributed as dist

def train(net, rows, held_out):
    dist.init_process_group("nccl")
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(net, torch.nn.BatchNorm1d(4)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(10):
        for x in rows:
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
        if dist.get_rank() == 0:
            with {mode}:
                for x in held_out:
                    net(x)
        {after}
"""


@pytest.mark.parametrize(
    ("mode", "after", "found"),
    [("torch.no_grad()", "pass", "notice"), ("torch.no_grad()", "dist.barrier()", "error"), ("torch.enable_grad()", "pass", "error")],
    ids=["the next training forward is its partner", "the others wait at a barrier", "each of these forwards sends"],
)
def test_an_evaluation_of_one_rank_sends_what_the_others_send_next(mode: str, after: str, found: str) -> None:
    program = Snapshot.of({"train.py": EVALUATED.format(mode=mode, after=after).encode()})
    assert [each.severity.label for each in analyse(program, (rank_conditional_collective.RULE,)).findings] == [found]


STARTED = """
import torch
import torch.distributed as dist

def main(net, rows):
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        if rows.is_empty():
            {leave}
    net = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    dist.barrier()
    for x in rows:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("leave", "found"), [("return -1", False), ("return 0", True)])
def test_a_program_that_reports_an_error_means_to_end(leave: str, found: bool) -> None:  # noqa: FBT001
    report = analyse(Snapshot.of({"train.py": STARTED.format(leave=leave).encode()}), [rank_conditional_collective.RULE])
    assert bool(report.findings) is found
