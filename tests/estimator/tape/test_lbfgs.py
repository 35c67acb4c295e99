"""L-BFGS holds two rows of all parameters for each pair of its history."""

from __future__ import annotations

import pytest

from tests.estimator.script.running import estimated

SCRIPT = """
import torch
from torch import nn

model = nn.Linear(1024, 1024, bias=False).cuda()
optimizer = torch.optim.LBFGS(model.parameters(), history_size={history})
for _ in range(5):
    def closure():
        optimizer.zero_grad()
        loss = model(torch.zeros(4, 1024, device="cuda")).sum()
        loss.backward()
        return loss
    optimizer.step(closure)
"""
WEIGHTS = 1024 * 1024 * 4


@pytest.mark.parametrize("history", [10, 100])
def test_the_history_is_full(history):
    found = estimated(SCRIPT.format(history=history)).memory
    assert 2 * history * WEIGHTS < found.allocated_bytes - 2 * WEIGHTS < (2 * history + 16) * WEIGHTS
