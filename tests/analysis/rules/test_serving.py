"""Ranks that serve others without end, and lists of objects that are no data."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

SERVING = """
import torch
import torch.distributed as dist

def train(net, loader):
    dist.init_process_group("nccl")
    net = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
    if dist.get_rank() != 0:
        {loop}:
            dist.broadcast(x, src=0)
            print(net.module(x))
"""
SENDING = """
import torch
import torch.distributed as dist

class Syncing:
    def __init__(self, model, engine):
        self.model, self.engine = model, engine

    def whole(self):
        for parameter in self.model.parameters():
            dist.all_reduce(parameter)
            yield parameter

    def sync(self):
        if dist.get_rank() == 0:
            {first}
        else:
            for _ in self.whole():
                pass

def train(model: torch.nn.Module, engine, loader):
    dist.init_process_group("nccl")
    syncing = Syncing(model, engine)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        syncing.sync()
"""
OBJECTS = """
from __future__ import annotations
from dataclasses import dataclass
from typing import Sequence
import torch

class References(torch.nn.Module):
    def undo(self, x):
        return x - 1.0

@dataclass
class Task:
    name: str
    references: References | None = None

class Unit:
    def __init__(self, model, tasks{written}):
        self.tasks = [task for task in tasks if task.name]
        for task in self.tasks:
            if task.references is not None:
                task.references.to(torch.device("cuda"))
        self.model = model
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def train_step(self, batch):
        out = self.model(batch)
        loss = sum(out[task.name].mean() for task in self.tasks)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""
BATCHES = """
import torch
from typing import Iterable, List
from elsewhere import Graph

def train(net, graphs: {written}):
    net.cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for graph in graphs:
        graph.nodes.to("cuda")
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(graph.nodes), graph.labels).backward()
        optimizer.step()
"""


def found(program: str, rule: str) -> int:
    report = analyse(Snapshot.of({"train.py": program.encode()}), [each for each in discover() if each.name == rule])
    assert not report.problems
    return len(report.findings)


@pytest.mark.parametrize(("loop", "alarms"), [("while True", 0), ("for _ in range(2)", 1)])
def test_what_ranks_do_without_end_is_called_for_by_others(loop, alarms):
    assert found(SERVING.format(loop=loop), "rank-conditional-collective") == alarms


@pytest.mark.parametrize(("written", "alarms"), [(": Sequence[Task]", 0), (": list[Task]", 0), ("", 1)])
def test_a_list_of_objects_is_no_loader(written, alarms):
    assert found(OBJECTS.format(written=written), "discarded-move") == alarms


@pytest.mark.parametrize(("written", "alarms"), [("List[Graph]", 0), ("List[torch.Tensor]", 1), ("Iterable[Graph]", 1)])
def test_tensors_of_a_list_of_objects_are_not_known_for_tensors(written, alarms):
    assert found(BATCHES.format(written=written), "discarded-move") == alarms


@pytest.mark.parametrize(("first", "told"), [("self.engine.send(self.whole())", set()), ("self.engine.send([])", {"rank-conditional-collective"})])
def test_what_one_rank_hands_to_another_program_is_gone_through_there(first: str, told: set[str]) -> None:
    report = analyse(Snapshot.of({"train.py": SENDING.format(first=first).encode()}), discover())
    assert {finding.rule for finding in report.findings} & {"rank-conditional-collective"} == told
