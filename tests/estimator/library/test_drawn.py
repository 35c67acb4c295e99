"""Whole numbers that a program draws: the largest is taken, and said."""

from __future__ import annotations

import pytest

from tests.estimator.script.running import estimated

SCRIPT = """
import random
import torch
from torch import nn

model = nn.Linear(8, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    model(torch.zeros({drawn}, 8).cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(("drawn", "batch"), [("random.randint(20, 50)", 50), ("random.randrange(20, 50, 8)", 44), ("random.randrange(9)", 8)])
def test_the_largest_number_is_taken(drawn: str, batch: int):
    found = estimated(SCRIPT.format(drawn=drawn))
    assert found.config.batch_size.value == batch
    assert any("the largest is taken" in sentence for sentence in found.unknowns)


def test_a_number_between_unknown_ends_stays_unknown():
    assert estimated(SCRIPT.format(drawn="random.randint(1, len(open('data.txt').read()))")).memory is None


@pytest.mark.parametrize(
    ("test", "batch"), [("random.random() < 1.0", 7), ("random.random() >= 0", 7), ("random.random() < 0.0", 3), ("random.random() > 1", 3)]
)
def test_a_draw_that_decides_nothing_is_decided(test: str, batch: int):
    assert estimated(SCRIPT.format(drawn=f"(7 if {test} else 3)")).config.batch_size.value == batch
