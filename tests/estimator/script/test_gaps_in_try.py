"""What we do not know is no error of the program: a ``try`` around it is not left for it."""

from __future__ import annotations

import pytest

from tests.estimator.script.running import estimated

SCRIPT = """
import math
import random
import numpy as np
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(16, 16) for _ in range(6)])
        self.sizes = [x.shape[-1] for x in self.forward(torch.zeros(1, 16))]

    def forward(self, x):
        kept = []
        for layer in self.layers:
            x = layer(x)
            kept.append(x)
        return kept

class Fails(nn.Module):
    def forward(self, x):
        raise ValueError("not today")

net = Net().cuda()
read = torch.zeros(1).cuda() + 1
unknown = read.item()
image = np.zeros((8, 8, 3))
batch = 4
try:
    {below}
    batch = 12
except Exception:
    pass
try:
    Fails()(read)
except ValueError:
    pass
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    sum(each.sum() for each in net(torch.zeros(batch, len(net.sizes) + 10).cuda())).backward()
    optimizer.step()
    optimizer.zero_grad()
"""
GAPS = [
    "math.log(unknown)",
    "image.data.contiguous",
    "int(read)",
    "assert unknown > 3 or 1 / 0",
    "nn.functional.conv2d(unknown, read)",
]


@pytest.mark.parametrize("below", GAPS)
def test_the_program_goes_on(below: str):
    found = estimated(SCRIPT.format(below=below))
    assert found.config.batch_size.value == 12
    assert found.memory.parameters == 6 * (16 * 16 + 16)


@pytest.mark.parametrize("below", ["image.no_such_thing", "int('a')", "{}['a']", "torch.zeros(3)[5]"])
def test_an_error_of_the_program_is_one(below: str):
    assert estimated(SCRIPT.format(below=below)).config.batch_size.value == 4
