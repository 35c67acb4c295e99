"""Comprehensions and generator expressions over a loader are loops: few rounds tell enough, and their events stand in a loop of their own."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.program import trace_program
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

PROGRAM = """
import torch
from torch.utils.data import DataLoader

def evaluate(net, data):
    net.eval()
    with torch.no_grad():
        {body}
"""


@pytest.mark.parametrize(
    "body",
    [
        "return [net(x) for x in DataLoader(data)]",
        "return {net(x): 1 for x in DataLoader(data)}",
        "return sum(net(x).mean().item() for x in DataLoader(data))",
        "return sum(net(x).mean().item() for x in DataLoader(data) for _ in range(2))",
    ],
)
def test_a_loader_that_is_gone_through_in_an_expression_is_a_loop(body: str):
    snapshot = Snapshot.of({"evaluate.py": PROGRAM.format(body=body).encode()})
    (trace,) = trace_program(snapshot, index(snapshot), ["evaluate.py"])
    forwards = list(trace.events(Kind.FORWARD))
    assert {event.context.stamp[-1][1] for event in forwards} == {0, 1}
    assert len({event.context.stamp[-1][0] for event in forwards}) == 1


def test_whoever_consumes_a_generator_expression_does_so_outside_its_loop():
    body = "for out in (net(x) for x in DataLoader(data)):\n            out.mean().item()"
    snapshot = Snapshot.of({"evaluate.py": PROGRAM.format(body=body).encode()})
    (trace,) = trace_program(snapshot, index(snapshot), ["evaluate.py"])
    reads, forwards = list(trace.events(Kind.ITEM)), list(trace.events(Kind.FORWARD))
    assert len(reads) == 2
    assert {event.context.stamp[-1][0] for event in reads}.isdisjoint(event.context.stamp[-1][0] for event in forwards)


RUNS = """
import torch

def main(run):
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(100):
        for x in torch.utils.data.DataLoader(torch.load("rows.pt")):
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
    return run

print(torch.tensor([main(run) for run in range(200)]))
"""


def test_a_few_of_many_trainings_are_run_where_each_is_an_item():
    snapshot = Snapshot.of({"train.py": RUNS.encode()})
    [trace] = trace_program(snapshot, index(snapshot), ["train.py"])
    assert trace.complete
    assert 3 <= sum(1 for _ in trace.events(Kind.OPTIMIZER_BUILT)) < 50
