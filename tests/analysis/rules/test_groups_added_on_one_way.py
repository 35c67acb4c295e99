"""An optimizer that gets another group on one side of a condition holds what any of the ways gave it."""

from __future__ import annotations

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

PROGRAM = """
import random
import torch

body, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(body.parameters(), lr=0.1)
if random.random() > 0.5:
    optimizer.add_param_group({"params": head.parameters()})
if random.random() > 0.5:
    optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(4))]})
for x, y in torch.utils.data.DataLoader(torch.load("data.pt"), shuffle=True):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(head(body(x)), y).backward()
    optimizer.step()
"""


def test_no_rule_stumbles_over_what_is_held_on_several_ways():
    report = analyse(Snapshot.of({"train.py": PROGRAM.encode()}), discover())
    assert not report.problems
    assert not [each for each in report.findings if each.rule in {"stale-optimizer-parameters", "unoptimized-parameters"}]
