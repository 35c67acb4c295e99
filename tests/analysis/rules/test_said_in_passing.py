"""What code says to its reader, or does for its effect on the machine, and not about its own training."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import discarded_move, unscaled_accumulation
from analysis.snapshot import Snapshot

ACCUMULATING = """
import torch
from accelerate import Accelerator
{said}
def train(dataset{argument}):
    accelerator = Accelerator()
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(dataset))
    for x, y in loader:
        with accelerator.accumulate(model):
            optimizer.zero_grad()
            accelerator.backward(torch.nn.functional.mse_loss(model(x), y))
            optimizer.step()
"""
MOVING = """
import torch

def run(device):
    noise = torch.randn(3)
    {moved}.to(device)
    return noise

run("cuda")
"""


@pytest.mark.parametrize(
    ("said", "argument", "found"),
    [
        ("", "", False),
        ("# An accelerator with gradient_accumulation_steps=4 will do, too.", "", False),
        ('"""Takes any accelerator: pass gradient_accumulation_steps to add gradients up."""', "", False),
        ("", ", gradient_accumulation_steps=4", True),
        ('WINDOW = {"gradient_accumulation_steps": 4}', "", True),
    ],
)
def test_a_window_is_one_of_which_code_speaks(said, argument, found):
    report = analyse(Snapshot.of({"train.py": ACCUMULATING.format(said=said, argument=argument).encode()}), [unscaled_accumulation.RULE])
    assert [finding.rule for finding in report.findings] == ["unscaled-accumulation"] * found


@pytest.mark.parametrize(
    ("moved", "found"),
    [("noise", True), ("noise.float()", True), ("torch.zeros(1)", False), ("torch.zeros(1).half()", False), ("(torch.ones(3) * noise)", True)],
)
def test_who_moves_what_nobody_has_wakes_the_device(moved, found):
    report = analyse(Snapshot.of({"train.py": MOVING.format(moved=moved).encode()}), [discarded_move.RULE])
    assert [finding.rule for finding in report.findings] == ["discarded-move"] * found
