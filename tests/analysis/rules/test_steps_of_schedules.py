"""Schedules whose steps are meant for epochs or for batches, and that are moved in the other rhythm."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import scheduler_interval
from analysis.snapshot import Snapshot

PROGRAM = """
import torch
from torch.optim import lr_scheduler

def train(model, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = lr_scheduler.{schedule}
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            {by_batch}
        {by_epoch}
"""


@pytest.mark.parametrize(
    ("schedule", "by_batch", "found"),
    [
        ("StepLR(optimizer, step_size=1, gamma=0.85)", True, True),
        ("StepLR(optimizer, 1, 0.85)", False, False),
        ("StepLR(optimizer, step_size=1000, gamma=0.5)", True, False),
        ("ExponentialLR(optimizer, gamma=0.9)", True, True),
        ("ExponentialLR(optimizer, gamma=0.9999)", True, False),
        ("CyclicLR(optimizer, 0.01, 0.1)", False, True),
        ("CyclicLR(optimizer, 0.01, 0.1)", True, False),
        ("CyclicLR(optimizer, 0.01, 0.1, step_size_up=5)", False, False),
    ],
)
def test_a_schedule_is_moved_in_its_own_rhythm(schedule, by_batch, found):
    lines = {"by_batch": "schedule.step()" if by_batch else "pass", "by_epoch": "pass" if by_batch else "schedule.step()"}
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(schedule=schedule, **lines).encode()}), [scheduler_interval.RULE])
    assert [finding.rule for finding in report.findings] == ["scheduler-interval"] * found
