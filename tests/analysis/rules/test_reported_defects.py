"""Mistakes of several ranks and of schedules in the forms in which people write them: each program was once passed over, its twin is right."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

GATHERED_INTO_ONE = """
import torch
import torch.distributed as dist
import torch.nn.functional as F

def gathered(t):
    everything = torch.zeros(dist.get_world_size() * len(t), 8)
    {gather}
    return everything

def train(net, loader):
    dist.init_process_group("nccl")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        z = gathered(net(x))
        optimizer.zero_grad()
        F.cross_entropy(z @ z.T, torch.arange(len(z))).backward()
        optimizer.step()
"""
DECORATED = """
import functools
import torch
import torch.distributed as dist

def on_main(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if dist.get_rank() == 0:
            return function(*args, **kwargs)
    return wrapper

{decorator}
def evaluate(net, x):
    total = net(x).mean().detach()
    dist.all_reduce(total)  # here
    return total

def train(net, loader):
    dist.init_process_group("nccl")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
    evaluate(net, x)
"""
CALLBACKS = """
import torch
from torch.optim.lr_scheduler import OneCycleLR

class Schedule:
    def __init__(self, scheduler):
        self.scheduler = scheduler

    def before(self):
        {before}

    def after(self):
        {after}

def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    callbacks = [Schedule(OneCycleLR(optimizer, 0.1, total_steps=1000))]
    for x in loader:
        for each in callbacks:
            each.before()
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
        for each in callbacks:
            each.after()
"""


def found(program: str, *rules: str) -> dict[str, int]:
    """The rules that speak, and the line that each names."""
    snapshot = Snapshot.of({"train.py": program.encode()})
    report = analyse(snapshot, [rule for rule in discover() if rule.name in rules])
    return {finding.rule: snapshot.contents["train.py"][: finding.span.start].count(b"\n") + 1 for finding in report.findings}


@pytest.mark.parametrize("arguments", ["everything, t", "output_tensor=everything, input_tensor=t"])
def test_one_tensor_that_is_gathered_into_carries_no_gradient(arguments):
    assert found(GATHERED_INTO_ONE.format(gather=f"dist.all_gather_into_tensor({arguments})"), "gather-without-grad")
    assert not found(GATHERED_INTO_ONE.format(gather="everything = torch.cat(dist.nn.functional.all_gather(t))"), "gather-without-grad")


def test_a_decorator_guards_what_stands_in_the_decorated_function():
    program = DECORATED.format(decorator="@on_main")
    assert found(program, "rank-conditional-collective") == {"rank-conditional-collective": program[: program.index("  # here")].count("\n") + 1}
    assert not found(DECORATED.format(decorator=""), "rank-conditional-collective")


def test_callbacks_step_the_schedule_before_the_optimizer():
    assert found(CALLBACKS.format(before="self.scheduler.step()", after="pass"), "scheduler-before-optimizer")
    assert not found(CALLBACKS.format(before="pass", after="self.scheduler.step()"), "scheduler-before-optimizer")


MICRO_BATCHES = """
import os
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
windows = {windows}
for step in range(1000):
    optimizer.zero_grad()
    for micro in range(windows):
        {before}
        loss = net(torch.randn(4, 8)).mean() / windows
        {after}
        loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("windows", ["16", "40", "int(os.environ['WINDOWS'])"])
def test_whether_gradients_are_averaged_is_decided_before_the_forward(windows):
    switch = "net.require_backward_grad_sync = micro == windows - 1"
    assert found(MICRO_BATCHES.format(windows=windows, before="pass", after=switch), "accumulation-without-no-sync")
    assert not found(MICRO_BATCHES.format(windows=windows, before=switch, after="pass"), "accumulation-without-no-sync")


TIME_LIMIT = """
import time
import torch
import torch.distributed as dist

def stop(end):
    late = time.monotonic() > end
    {agree}
    return late

def train(net, loader, minutes):
    dist.init_process_group("nccl")
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    end = time.monotonic() + 60 * minutes
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
        if stop(end):
            break
"""
AGREED = "flag = torch.tensor(float(late)); dist.all_reduce(flag, op=dist.ReduceOp.MAX); late = flag.item() > 0"


def test_ranks_read_their_own_clocks():
    assert found(TIME_LIMIT.format(agree="pass"), "rank-divergent-branch")
    assert not found(TIME_LIMIT.format(agree=AGREED), "rank-divergent-branch")
    assert not found(TIME_LIMIT.format(agree="box = [late]; dist.broadcast_object_list(box); late = box[0]"), "rank-divergent-branch")


UPDATES = """
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR
from torch.utils.data import DataLoader

def schedule_of(optimizer, updates):
    warm, rest = LinearLR(optimizer, total_iters=10), CosineAnnealingLR(optimizer, T_max=updates - 10)
    return {schedule}

def train(net, data, epochs, every=4):
    loader = DataLoader(data, batch_size=8, shuffle=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = schedule_of(optimizer, {updates})
    for epoch in range(epochs):
        for i, x in enumerate(loader):
            (net(x).mean() / every).backward()
            if (i + 1) % every == 0 or i + 1 == len(loader):
                optimizer.step()
                optimizer.zero_grad()
{inside}            schedule.step()
"""


@pytest.mark.parametrize("updates", ["epochs * len(loader) // every", "int(len(loader) * epochs / every)", "epochs * (len(loader) // every)"])
@pytest.mark.parametrize("schedule", ["SequentialLR(optimizer, [warm, rest], milestones=[10])", "CosineAnnealingLR(optimizer, updates)"])
def test_a_length_in_updates_is_stepped_once_per_update(updates, schedule):
    assert found(UPDATES.format(updates=updates, schedule=schedule, inside=""), "scheduler-interval")
    assert not found(UPDATES.format(updates=updates, schedule=schedule, inside="    "), "scheduler-interval")


def test_a_length_in_micro_batches_is_stepped_with_each_of_them():
    program = UPDATES.replace("epochs, every", "epochs: int, every")
    assert not found(program.format(updates="epochs * len(loader)", schedule="CosineAnnealingLR(optimizer, updates)", inside=""), "scheduler-interval")


DEALT = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Subset

def main(net, dataset):
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    {length}
    loader = DataLoader(Subset(dataset, range(rank, length, world)), batch_size=8)
    net = torch.nn.parallel.DistributedDataParallel(net)
    {use}
"""
TRAINED = """optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()
"""
GATHERED = """optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(100):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).mean().backward()
        optimizer.step()
    with torch.no_grad():
        features = torch.cat([net(x) for x, _ in loader])
    parts = [torch.zeros_like(features) for _ in range(world)]
    dist.all_gather(parts, features{part})
"""


def test_every_nth_sample_from_the_rank_on_is_one_more_on_some_ranks():
    uneven, even = "length = len(dataset)", "length = len(dataset) // world * world"
    rules = "uneven-ranks", "uneven-gather"
    assert found(DEALT.format(length=uneven, use=TRAINED), *rules) == {"uneven-ranks": 10}
    assert found(DEALT.format(length=uneven, use=GATHERED.format(part="")), *rules) == {"uneven-gather": 20}
    assert not found(DEALT.format(length=uneven, use=GATHERED.format(part=".mean(0)")), *rules)
    assert not found(DEALT.format(length=even, use=TRAINED), *rules)
    assert not found(DEALT.format(length=even, use=GATHERED.format(part="")), *rules)


MILESTONES = """
import torch

def train(net, loader, epochs={epochs}):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones={milestones})
    for epoch in range(epochs):
        for x in loader:
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
{inside}        schedule.step()

train(torch.nn.Linear(8, 1), torch.load("batches.pt"))
"""
RANDOM = """
import random
import torch
import torch.distributed as dist

def main(net, loader, seed):
    dist.init_process_group("nccl")
    random.seed({seed})
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
        if random.random() < 0.1:
            dist.all_reduce(loss.detach())
"""


def test_milestones_in_epochs_are_passed_once_per_epoch():
    assert found(MILESTONES.format(epochs=90, milestones=[30, 60], inside="    "), "scheduler-interval")
    assert not found(MILESTONES.format(epochs=90, milestones=[30, 60], inside=""), "scheduler-interval")
    assert not found(MILESTONES.format(epochs=12, milestones=[30_000, 60_000], inside="    "), "scheduler-interval")


def test_ranks_that_seed_by_their_number_draw_other_numbers():
    assert found(RANDOM.format(seed="seed + dist.get_rank()"), "rank-divergent-branch")
    assert not found(RANDOM.format(seed="seed"), "rank-divergent-branch")
