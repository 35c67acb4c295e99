"""A block or decorator from a package that is not there: its name alone can say that gradients are off."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import evaluation_with_grad
from analysis.snapshot import Snapshot

PROGRAM = """
import torch
from elsewhere import smart_inference_mode, torch_no_grad, timed

{decorator}
def evaluate(model, loader):
    model.eval()
    total = 0.0
    with {manager}:
        for x, y in loader:
            total += torch.nn.functional.mse_loss(model(x), y).item()
    return total

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        print(evaluate(model, loader))
"""


@pytest.mark.parametrize(
    ("decorator", "manager", "found"),
    [("@timed", "timed()", True), ("@smart_inference_mode()", "timed()", False), ("@torch_no_grad", "timed()", False), ("@timed", "torch_no_grad()", False)],
)
def test_the_name_says_whether_gradients_are_off(decorator, manager, found):
    program = PROGRAM.format(decorator=decorator, manager=manager)
    report = analyse(Snapshot.of({"train.py": program.encode()}), [evaluation_with_grad.RULE])
    assert [finding.rule for finding in report.findings] == ["evaluation-with-grad"] * found
