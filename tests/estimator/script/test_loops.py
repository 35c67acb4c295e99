"""Loops are run as often as they tell something."""

from __future__ import annotations

import pytest

from analysis.certainty import Known, Place
from analysis.snapshot import Snapshot
from estimator.request import Request
from estimator.run import estimate
from estimator.script import loops

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


PREPARES = """\
import torch

def count(part):
    for word in range(400):
        table[part, word] = word * part % 7 + word

table = {}
for part in range(2):
    count(part)
model = torch.nn.Linear(10, 10).cuda()
model(torch.randn(8, 10, device="cuda")).sum().backward()
"""


@pytest.mark.parametrize(("left", "is_told"), [(300_000, True), (599_500, False)])
def test_a_run_that_prepares_without_end_is_given_up(monkeypatch, left, is_told):
    monkeypatch.setattr(loops, "PREPARED", left)
    (found,) = estimate(Snapshot.of({"train.py": PREPARES.encode()}), Request(entry="train.py"))
    assert (found.memory is not None) == is_told
    assert ("train.py: the run is too long to be followed to its first optimizer step" in found.unknowns) == (not is_told)
