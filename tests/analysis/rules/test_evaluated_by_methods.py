"""A model that is evaluated through a method of its own: a loop over its blocks is no loop over data, and frozen parameters carry no graph."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import evaluation_with_grad
from analysis.snapshot import Snapshot

MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.position = nn.Parameter(torch.zeros(1, 8))
        self.blocks = nn.ModuleList([nn.Linear(8, 8) for _ in range(4)])

    def attention(self, x):
        x = self.first(x) + self.position
        for index, block in enumerate(self.blocks):
            if index < len(self.blocks) - 1:
                x = block(x)
            else:
                return block(x)

data = torch.utils.data.DataLoader(torch.load("images.pt"), batch_size=2)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for image in data:
    optimizer.zero_grad()
    model.attention(image).sum().backward()
    optimizer.step()
"""
ONCE = "model.eval()\nprint(model.attention(torch.rand(1, 8)).shape)\n"
OVER_DATA = """
kept = []
model.eval()
for image in data:
    kept.append(model.attention(image))
"""
FREEZE = "for parameter in model.parameters():\n    parameter.requires_grad = False\n"


@pytest.mark.parametrize(("use", "lines"), [(ONCE, 0), (OVER_DATA, 1), (FREEZE + OVER_DATA, 0), ("model.requires_grad_(False)\n" + OVER_DATA, 0)])
def test_what_goes_round_in_the_model_is_no_evaluation(use: str, lines: int) -> None:
    report = analyse(Snapshot.of({"train.py": (MODEL + use).encode()}), (evaluation_with_grad.RULE,))
    assert len(report.findings) == lines
