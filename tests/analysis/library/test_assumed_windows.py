"""A window that is not told is one number in a run, whatever is asked about it."""

import pytest

from analysis.index import index
from analysis.library.program import trace_program
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

PROGRAM = """
import torch

def train(model, loader, args):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, x in enumerate(loader):
        loss = model(x).mean()
        if {condition}:
            loss = loss.{mark}()
        loss.backward()
        if {test}:
            optimizer.step()
"""


def marked(condition, test="(i + 1) % args.steps == 0"):
    """Whether a backward goes through what the branch does, for each run."""
    snapshot = Snapshot.of({"train.py": PROGRAM.format(condition=condition, test=test, mark="exp").encode()})
    traces = trace_program(snapshot, index(snapshot, {}), ["train.py"])
    return [{event.value.made.op == "exp" for event in trace.events(Kind.BACKWARD)} for trace in traces]


@pytest.mark.parametrize("condition", ["args.steps > 1", "args.steps != 1", "not args.steps <= 1", "args.steps >= 2"])
def test_a_window_is_more_than_one(condition):
    assert marked(condition) == [{True}]


@pytest.mark.parametrize("condition", ["args.steps == 1", "args.steps < 2"])
def test_a_window_is_not_one(condition):
    assert marked(condition) == [{False}]


def test_a_number_that_nothing_counts_by_is_open():
    assert marked("args.other > 1") == [{True}, {False}]
