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


SCHEDULED = """
import torch

def train(net, loader, path, epochs):
    optimizer = torch.optim.Adam(net.parameters())
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.9 ** epoch)
    saved = torch.load(path)
    net.load_state_dict(saved["net"])
    optimizer.load_state_dict(saved["optimizer"])
    start = saved["epoch"] + 1
    {told}
    for epoch in range(start, epochs):
        for x in loader:
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
        scheduler.step()
        torch.save({{"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}}, path)
"""


@pytest.mark.parametrize(("told", "lost"), [("scheduler.last_epoch = start - 1", False), ("assert scheduler.last_epoch == 0", True)])
def test_a_schedule_may_be_set_by_hand(told, lost):
    snapshot = Snapshot.of({"train.py": SCHEDULED.format(told=told).encode()})
    assert bool(analyse(snapshot, [rule for rule in discover() if rule.name == "incomplete-resume"]).findings) is lost


NAMED = """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--resume", default="")
args = parser.parse_args()
net = torch.nn.Linear(4, 4)
optimizer = torch.optim.Adam(net.parameters())
scaler = torch.amp.GradScaler()
if args.resume:
    saved = torch.load(args.resume)
    net.load_state_dict(saved["net"])
    optimizer.load_state_dict(saved["optimizer"])
    {loaded}
for epoch in range(9):
    for x in torch.utils.data.DataLoader(torch.load("a.pt"), shuffle=True):
        optimizer.zero_grad()
        scaler.scale(net(x).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
    torch.save({{"net": net.state_dict(), "optimizer": optimizer.state_dict(){saved}}}, "last.pt")
"""


@pytest.mark.parametrize(
    ("saved", "loaded", "told"),
    [("", "pass", True), (', "scaler": scaler.state_dict()', 'scaler.load_state_dict(saved["scaler"])', False)],
)
def test_a_branch_that_asks_for_a_file_is_read_as_it_stands(saved, loaded, told):
    snapshot = Snapshot.of({"train.py": NAMED.format(saved=saved, loaded=loaded).encode()})
    findings = analyse(snapshot, [rule for rule in discover() if rule.name == "incomplete-resume"]).findings
    assert bool(findings) is told
