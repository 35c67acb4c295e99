"""What a model is made of is alike on every rank, although each rank loads it for a device of its own; so is whether there is a number at all."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.finding import Confidence
from analysis.rules import rank_divergent_branch
from analysis.snapshot import Snapshot


def _divides(program: str) -> bool:
    report = analyse(Snapshot.of({"train.py": program.encode()}), [rank_divergent_branch.RULE])
    return bool(report.findings)


PROGRAM = """
import torch
import torch.distributed as dist
from elsewhere import load

def save(model):
    if not {condition}:
        return
    dist.barrier()

dist.init_process_group("nccl")
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader([torch.zeros(4)] * 8):
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
loaded = load("base", dist.get_rank())
print(loaded["name"] + "!")
save(loaded)
"""


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("any(name == 'lora' for name, _ in model.named_children())", False),
        ("model.inner.children()", False),
        ("model.score() > 0.5", True),
    ],
)
def test_what_a_model_is_made_of_divides_no_ranks(condition, found):
    assert _divides(PROGRAM.format(condition=condition)) is found


OPTIONAL = """
import torch
import torch.distributed as dist
from elsewhere import penalty_of

dist.init_process_group("nccl")
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
penalty = penalty_of("settings")
total = None if penalty is None else 0.0
data = [torch.zeros(4)] * 8
for x in torch.utils.data.DataLoader(data, sampler=torch.utils.data.DistributedSampler(data)):
    optimizer.zero_grad()
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
    if penalty is not None:
        total += loss.item()
if {condition}:
    whole = torch.tensor(total)
    dist.all_reduce(whole)
"""


@pytest.mark.parametrize(("condition", "found"), [("total is not None", False), ("total", True)])
def test_ranks_agree_that_there_is_a_number(condition, found):
    assert _divides(OPTIONAL.format(condition=condition)) is found


SYNCHRONISED = """
import torch
import torch.distributed as dist
from elsewhere import device_of

def main(rank, size, net, data):
    if size > 1:
        dist.init_process_group("nccl", rank=rank, world_size=size)
    own = {made}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(data, sampler=torch.utils.data.DistributedSampler(data)):
        optimizer.zero_grad()
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
        if own is not None:
            dist.all_reduce(loss.detach())
"""


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("torch.device('cuda', rank) if size > 1 else None", False),
        ("device_of(rank) if size > 1 else None", False),
        ("torch.device('cuda', rank) if rank == 0 else None", True),
        ("device_of(rank) if rank == 0 else None", True),
    ],
)
def test_ranks_agree_that_an_object_was_made(made, found):
    assert _divides(SYNCHRONISED.format(made=made)) is found


SCORED_ON_ONE = """
import torch
import torch.distributed as dist
from elsewhere import score

def evaluate(net, rows):
    if dist.get_rank() == 0:
        metric = score(net, rows)
        dist.broadcast(torch.tensor(metric, device="cuda"), 0)
    else:
        metric = torch.tensor(0.0, device="cuda")
        {receive}
        metric = metric.item()
    return metric

def main(net, rows):
    dist.init_process_group("nccl")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    for epoch in range(3):
        for x in rows:
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
        scheduler.step(evaluate(net, rows))
"""


@pytest.mark.parametrize(("receive", "found"), [("dist.broadcast(metric, 0)", False), ("metric += 1", True)])
def test_the_sender_has_what_it_sent(receive, found):
    assert _divides(SCORED_ON_ONE.format(receive=receive)) is found


GATHERED = """
import torch
import torch.distributed as dist

class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 4)

    def gathered(self, t):
        if t is None:
            return None
        parts = [torch.empty_like(t) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, t)
        return torch.cat(parts)

    def forward(self, query, passage):
        left = self.net(query) if {asked} else None
        right = self.net(passage)
        left = self.gathered(left)
        return right if left is None else left @ right.T

dist.init_process_group("nccl")
net = torch.nn.parallel.DistributedDataParallel(Encoder())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
pairs = torch.load("pairs.pt")
loader = torch.utils.data.DataLoader(pairs, sampler=torch.utils.data.distributed.DistributedSampler(pairs))
for query, passage in loader:
    optimizer.zero_grad()
    net(query, passage).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("asked", "found"), [("query", False), ("query.sum() > 0", True)])
def test_batches_of_all_ranks_hold_the_same_parts(asked: str, found: bool) -> None:  # noqa: FBT001
    report = analyse(Snapshot.of({"train.py": GATHERED.format(asked=asked).encode()}), [rank_divergent_branch.RULE])
    assert bool(report.findings) is found


RESUMED = """
import torch
import torch.distributed as dist
from elsewhere import kept, measured

def main(net, rows):
    dist.init_process_group("nccl")
    net = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in rows:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
        if {asked}:
            dist.all_reduce(torch.ones(1))
"""


@pytest.mark.parametrize(("asked", "found"), [('kept(dist.get_rank()).get("task") == "train"', False), ("measured(dist.get_rank()) < 0.5", True)])
def test_a_method_of_something_unknown_may_have_asked_the_other_ranks(asked, found):
    report = analyse(Snapshot.of({"train.py": RESUMED.format(asked=asked).encode()}), [rank_divergent_branch.RULE])
    assert [finding.confidence > Confidence.LOW for finding in report.findings] == [found]


SKIPPED = """
import os
import torch
import torch.distributed as dist

def train(rows, steps):
    dist.init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", rank)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1).to(device))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler()
    taken = skipped = 0
    for x in rows:
        optimizer.zero_grad()
        scaler.scale(net(x).mean()).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        taken += 1
        skipped += scaler._found_inf_per_device(optimizer)[{key}]
        scaler.update()
        if taken - skipped > steps:
            break
"""


@pytest.mark.parametrize(("key", "found"), [("device", False), ("rank", True)])
def test_what_each_rank_finds_under_its_own_device_is_alike(key, found):
    assert _divides(SKIPPED.format(key=key)) is found
