"""A loss that is detached after its own backward: its gradients are kept and put in by a hook when the detached one is back-propagated."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import detached_loss
from analysis.snapshot import Snapshot

PROGRAM = """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        out = model(x)
        part = out.detach().requires_grad_()
        loss = torch.nn.functional.mse_loss({given}, y)
        {first}
        loss = loss.detach().requires_grad_()
        loss.register_hook(lambda grad: out.backward(part.grad))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("given", "first", "found"), [("part", "loss.backward()", False), ("out", "loss.backward()", False), ("out", "pass", True)])
def test_what_was_back_propagated_before_it_was_cut(given, first, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(given=given, first=first).encode()}), [detached_loss.RULE])
    assert bool(report.findings) is found
