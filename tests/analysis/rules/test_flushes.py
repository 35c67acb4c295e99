"""The last batch of something whose length the source does not tell: a window is flushed there, or forgotten."""

import pytest

from analysis.engine import analyse
from analysis.rules import leftover_accumulation
from analysis.snapshot import Snapshot

PROGRAM = """
import torch
from data import batches

def train(rows, window):
    net = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        for step, row in enumerate(rows):
            row = {{name: value.cuda() for name, value in row.items()}}
            (net(**row).sum() / window).backward()
            if {condition}:
                optimizer.step()
                optimizer.zero_grad()

train(batches(), 8)
"""


def alarms(condition: str) -> int:
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(condition=condition).encode()}), [leftover_accumulation.RULE])
    assert not report.problems
    return len(report.findings)


@pytest.mark.parametrize("last", ["step + 1 == len(rows)", "step == len(rows) - 1", "not step + 1 < len(rows)"])
def test_a_window_that_is_flushed_with_the_last_batch_is_no_mistake(last):
    assert alarms(f"(step + 1) % window == 0 or {last}") == 0


def test_a_window_that_is_not_flushed_is_found():
    assert alarms("(step + 1) % window == 0") == 1
