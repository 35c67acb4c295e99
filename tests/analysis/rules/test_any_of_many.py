"""A model that a setting names is one of many: what one of them does by itself is not said of all."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import frozen_by_mistake
from analysis.snapshot import Snapshot

NET = """
import torch

class {name}(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.requires_grad_({trains})

    def forward(self, x):
        return self.layer(x)
"""
LOOP = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader([torch.zeros(4)] * 8):
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
"""
NETS = {"nets/__init__.py": "", "nets/fixed.py": NET.format(name="Fixed", trains=False)}
OTHER = {"nets/plain.py": NET.format(name="Plain", trains=True)}
REGISTRY = "import sys\nimport torch\nfrom nets.fixed import Fixed\n{more}NETS = {{'fixed': Fixed{entry}}}\nnet = NETS[sys.stdin.readline()]()\n"
BY_NAME = """
import sys
import torch
from importlib import import_module

name = sys.stdin.readline()
net = getattr(import_module('nets.' + name.lower()), name)()
"""


@pytest.mark.parametrize(
    ("files", "begin", "found"),
    [
        (NETS, REGISTRY.format(more="", entry=""), True),
        ({**NETS, **OTHER}, REGISTRY.format(more="from nets.plain import Plain\n", entry=", 'plain': Plain"), False),
        (NETS, BY_NAME, True),
        ({**NETS, **OTHER}, BY_NAME, False),
    ],
)
def test_frozen_by_itself(files, begin, found):
    program = {**files, "train.py": begin + LOOP}
    report = analyse(Snapshot.of({path: text.encode() for path, text in program.items()}), [frozen_by_mistake.RULE])
    assert bool(report.findings) is found
