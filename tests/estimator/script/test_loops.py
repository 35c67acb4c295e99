"""Loops are run as often as they tell something."""

from __future__ import annotations

import pytest

from analysis.certainty import Known, Place
from analysis.snapshot import Snapshot
from estimator.request import Request
from estimator.run import estimate

ACCUMULATES = """\
import torch
from torch import nn

model = nn.Sequential(*(nn.Linear(1024, 1024) for _ in range(4))).cuda()
optimizer = torch.optim.AdamW(model.parameters())
batch = torch.randn(4096, 1024, device="cuda")
for step in range(100):
    for micro_step in range({rounds}):
        loss = model(batch).pow(2).mean()
        batch = torch.randn(4096, 1024, device="cuda")
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(("rounds", "like"), [(40, 6), (41, 7)])
def test_of_many_micro_batches_as_few_run_as_hold_as_much(rounds, like):
    many, few = (estimate(Snapshot.of({"train.py": ACCUMULATES.format(rounds=each).encode()}), Request(entry="train.py"))[0] for each in (rounds, like))
    assert (many.memory.peak_bytes, many.memory.allocated_bytes) == (few.memory.peak_bytes, few.memory.allocated_bytes)
    assert many.config.accumulation_steps == Known(rounds, Place("train.py", 8))
    assert few.config.accumulation_steps == Known(like, Place("train.py", 8))
