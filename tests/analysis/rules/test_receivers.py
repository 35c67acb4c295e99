"""An optimizer or a schedule that an option chooses is one of several: whichever it is, it is stepped for certain."""

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

PROGRAM = """
import torch
from tqdm import tqdm

def train(model, loader, config):
    if config["optimizer"] == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    epochs = config["epochs"]
    if "milestones" in config:
        schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, config["milestones"])
    else:
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in tqdm(range(1, epochs + 1)):
        {before}
        for x, y in loader:
            {clear}
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            {inside}
        {after}
"""


def found(before="pass", clear="optimizer.zero_grad()", inside="pass", after="schedule.step()"):
    rules = [rule for rule in discover() if rule.name in {"missing-zero-grad", "scheduler-before-optimizer", "scheduler-interval", "zero-grad-before-step"}]
    program = PROGRAM.format(before=before, clear=clear, inside=inside, after=after)
    return {finding.rule for finding in analyse(Snapshot.of({"train.py": program.encode()}), rules).findings}


def test_nothing_is_wrong_with_either():
    assert found() == set()


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"clear": "pass"}, "missing-zero-grad"),
        ({"before": "schedule.step()", "after": "pass"}, "scheduler-before-optimizer"),
        ({"inside": "schedule.step()", "after": "pass"}, "scheduler-interval"),
    ],
)
def test_what_is_wrong_with_one_is_said(wrong, rule):
    assert found(**wrong) == {rule}
