"""Schedules that stay behind, and lengths that count the ranks."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

OBJECTIVES = """
from typing import List, Tuple
import torch
from torch import nn
from torch.utils.data import DataLoader
from transformers import get_linear_schedule_with_warmup

def fit(objectives: List[Tuple[DataLoader, nn.Module]], epochs: int, steps: int):
    optimizers, schedules = [], []
    for _, model in objectives:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        optimizers.append(optimizer)
        schedules.append(get_linear_schedule_with_warmup(optimizer, 10, epochs * steps))
    for epoch in range(epochs):
        for _ in range(steps):
            for (loader, model), optimizer, schedule in zip(objectives, optimizers, schedules):
                optimizer.zero_grad()
                model(next(iter(loader))).mean().backward()
                optimizer.step()
{inside}schedule.step()
"""
RANKS = """
import torch
import torch.distributed as dist
from diffusers.optimization import get_scheduler
{imports}

def train(loader, max_steps: int):
    dist.init_process_group("nccl")
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.AdamW(net.parameters())
    schedule = get_scheduler("linear", optimizer=optimizer, num_warmup_steps=10, num_training_steps={length})
    {prepared}
    for step, x in enumerate(loader):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
        schedule.step()
        if step > max_steps:
            break
"""


def lines(code: str) -> list[str]:
    snapshot = Snapshot.of({"train.py": code.encode()})
    report = analyse(snapshot, [rule for rule in discover() if rule.name == "scheduler-interval"])
    return [code.splitlines()[snapshot.position(finding.span).line - 1].strip() for finding in report.findings]


def test_each_of_several_schedules_has_to_be_stepped():
    assert lines(OBJECTIVES.format(inside=" " * 12)) == ["schedule.step()"]
    assert not lines(OBJECTIVES.format(inside=" " * 16))


@pytest.mark.parametrize("length", ["max_steps * dist.get_world_size()", "dist.get_world_size() * max_steps"])
def test_a_length_does_not_count_the_ranks(length):
    (found,) = lines(RANKS.format(imports="", length=length, prepared=""))
    assert found.startswith("schedule = get_scheduler")


def test_a_length_may_count_the_ranks_where_accelerate_moves_on_by_them():
    prepared = {"imports": "from accelerate import Accelerator", "prepared": "schedule = Accelerator().prepare(schedule)"}
    assert not lines(RANKS.format(length="max_steps * dist.get_world_size()", **prepared))
    assert not lines(RANKS.format(imports="", length="max_steps * 2", prepared=""))


WINDOWS = """
import torch
from transformers import get_linear_schedule_with_warmup

def train(model, loader, epochs, steps=4):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    schedule = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=10, num_training_steps={length})
    for epoch in range(epochs):
        for i, (x, y) in enumerate(loader):
            (torch.nn.functional.mse_loss(model(x), y) / steps).backward()
            if (i + 1) % steps == 0:
                optimizer.step()
                optimizer.zero_grad()
{inside}schedule.step()
"""


@pytest.mark.parametrize(
    ("length", "inside", "findings"),
    [
        ("len(loader) * epochs", " " * 16, 1),
        ("epochs * len(loader)", " " * 16, 1),
        ("len(loader) * epochs // steps", " " * 16, 0),
        ("len(loader) * epochs", " " * 12, 0),
    ],
)
def test_a_length_in_micro_batches_is_wrong_for_updates(length: str, inside: str, findings: int) -> None:
    rules = [rule for rule in discover() if rule.name == "scheduler-interval"]
    report = analyse(Snapshot.of({"train.py": WINDOWS.format(length=length, inside=inside).encode()}), rules)
    assert ["micro-batches" in finding.message for finding in report.findings] == [True] * findings


ANEW = """
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
best = 10.0
for x in torch.utils.data.DataLoader(torch.load("data.pt")):
    optimizer.zero_grad()
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
    if loss.item() > best:
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    schedule.step(loss.item())
"""


def test_a_schedule_may_be_built_anew_on_one_side_of_a_condition() -> None:
    report = analyse(Snapshot.of({"train.py": ANEW.encode()}), [rule for rule in discover() if rule.name == "scheduler-interval"])
    assert (report.findings, report.problems) == ((), ())


BY_HAND = """
import torch

def polynomial(base, step, steps):
    return base * (1 - step / steps) ** 0.9

def train(net, loader, epochs=50):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    seen = 0
    for epoch in range(epochs):
        for x in loader:
            for group in optimizer.param_groups:
                group["lr"] = polynomial(0.1, {counted})
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
            seen += 1
"""


@pytest.mark.parametrize(("counted", "found"), [("seen, epochs", 1), ("seen, epochs * len(loader)", 0), ("epoch, epochs", 0), ("steps=epochs, step=seen", 1)])
def test_a_learning_rate_of_ones_own_counts_in_the_unit_of_its_length(counted: str, found: int) -> None:
    asked = [rule for rule in discover() if rule.name == "scheduler-interval"]
    report = analyse(Snapshot.of({"train.py": BY_HAND.format(counted=counted).encode()}), asked)
    assert len(report.findings) == found


RATES = b"""
import math

def cosine(step, steps, warmup=100, top=0.1):
    if step < warmup:
        return top * step / warmup
    return top / 2 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))
"""
PER_EPOCH = """
import torch
from rates import cosine

def train(net, loader, epochs=8):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    steps = epochs * len(loader)
    for epoch in range(epochs):
        for group in optimizer.param_groups:
            group["lr"] = cosine({counted})
        for x in loader:
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
"""


@pytest.mark.parametrize(("begins", "rate"), [("range(epochs)", "group['lr'] = cosine(epoch, steps)"), ("range(1, epochs + 1)", "group['lr'] = rate")])
def test_a_rate_that_has_a_name_is_one_too(begins: str, rate: str) -> None:
    asked = [rule for rule in discover() if rule.name == "scheduler-interval"]
    program = PER_EPOCH.replace('group["lr"] = cosine({counted})', rate).replace("range(epochs)", begins)
    program = program.replace("        for group in", "        rate = cosine(epoch, steps)\n        for group in")
    report = analyse(Snapshot.of({"train.py": program.encode(), "rates.py": RATES}), asked)
    assert len(report.findings) == 1


@pytest.mark.parametrize(("counted", "found"), [("epoch, steps", 1), ("epoch, steps=steps", 1), ("epoch, epochs", 0), ("epoch * len(loader), steps", 0)])
def test_a_counter_of_epochs_does_not_come_to_the_end_of_all_batches(counted: str, found: int) -> None:
    asked = [rule for rule in discover() if rule.name == "scheduler-interval"]
    report = analyse(Snapshot.of({"train.py": PER_EPOCH.format(counted=counted).encode(), "rates.py": RATES}), asked)
    assert len(report.findings) == found
