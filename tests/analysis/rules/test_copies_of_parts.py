"""A copied part of a model that is not told is a model of its own; ranks that wait for each other average as ever."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.index import index
from analysis.library.program import trace_program
from analysis.rule import discover
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

COPIED_MODEL = """
import copy
import torch
from transformers import AutoModel

def train(loader):
    model = AutoModel.from_pretrained("some/model")
    print(model.encoder, model.layer)
    average = copy.deepcopy(model)
    optimizer = torch.optim.AdamW({trained}.layer.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x).last_hidden_state, y).backward()
        optimizer.step()
"""
JOINED = """
import torch
import torch.distributed as dist

def train(dataset):
    dist.init_process_group("nccl")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sampler = torch.utils.data.DistributedSampler(dataset)
    loader = torch.utils.data.DataLoader(dataset, sampler=sampler)
    with model.{around}():
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
"""


def found(program: str, rule: str) -> int:
    report = analyse(Snapshot.of({"train.py": program.encode()}), [each for each in discover() if each.name == rule])
    assert not report.problems
    return len(report.findings)


@pytest.mark.parametrize(("trained", "same"), [("model", True), ("average", False), ("copy.deepcopy(model.encoder)", False), ("copy.copy(model)", True)])
def test_parts_of_a_copied_model_are_the_copys(trained, same):
    snapshot = Snapshot.of({"train.py": COPIED_MODEL.format(trained=trained).encode()})
    (trace,) = trace_program(snapshot, index(snapshot), ["train.py"])
    (built,) = trace.events(Kind.OPTIMIZER_BUILT)
    backward = next(iter(trace.events(Kind.BACKWARD)))
    assert (frozenset(built.value.owners) == backward.value.owners) is same


@pytest.mark.parametrize(("around", "alarms"), [("join", 0), ("no_sync", 1)])
def test_gradients_are_averaged_where_ranks_join(around, alarms):
    assert found(JOINED.format(around=around), "accumulation-without-no-sync") == alarms


MANY = """
import torch
from torch import nn

def train(loader):
    body = nn.Bilinear(4, 4, 4)
    heads = [nn.Linear(4, 1) for _ in range(6)]
    optimizers = [torch.optim.SGD(body.parameters(), lr=0.1)]
    {given}
    for x, y in loader:
        loss = sum(nn.functional.mse_loss(head(body(x, x)), y) for head in heads)
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("given", "alarms"), [("for i, head in enumerate(heads): optimizers.append(torch.optim.SGD(head.parameters(), lr=0.1 / (i + 1)))", 0), ("pass", 1)]
)
def test_modules_that_one_loop_makes_are_optimized_together(given, alarms):
    assert found(MANY.format(given=given), "unoptimized-parameters") == alarms
