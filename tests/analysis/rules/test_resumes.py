"""Checkpoints that hold the optimizer's state, and runs that go on from them."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

RESUMED = """
import os
import torch

def train(net, loader, path, epochs):
    optimizer = torch.optim.Adam(net.parameters())
    start = 0
    if os.path.exists(path):
        saved = torch.load(path)
        net.load_state_dict(saved["net"])
        {restored}
    for epoch in range({begin}, epochs):
        for x in loader:
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
        torch.save({{"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}}, path)
"""


def found(restored: str, begin: str = "start") -> bool:
    snapshot = Snapshot.of({"train.py": RESUMED.format(restored=restored, begin=begin).encode()})
    return bool(analyse(snapshot, [rule for rule in discover() if rule.name == "incomplete-resume"]).findings)


def test_a_run_that_counts_on_needs_its_optimizer():
    assert found('start = saved["epoch"] + 1')


@pytest.mark.parametrize(
    ("restored", "begin"),
    [
        ('start = saved["epoch"] + 1; optimizer.load_state_dict(saved["optimizer"])', "start"),
        ('start = saved["epoch"] + 1; state = saved.get("optimizer")', "start"),
        ('for name, part in {"optimizer": optimizer}.items(): part.load_state_dict(saved[name])', "start"),
        ('print("trained for", saved["epoch"])', "start"),
        ('trained = saved["epoch"]', "start"),
    ],
)
def test_a_run_that_restores_it_or_begins_anew_does_not(restored, begin):
    assert not found(restored, begin)
