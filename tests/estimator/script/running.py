"""Estimates of small scripts, given as text."""

from __future__ import annotations

from textwrap import dedent

from analysis.snapshot import Snapshot
from estimator.estimate import Estimate
from estimator.request import Request
from estimator.run import estimate


def estimated(script: str | dict[str, str], entry: str = "train.py", **request) -> Estimate:
    """The estimate of a script, or of one among several files."""
    files = {entry: script} if isinstance(script, str) else script
    snapshot = Snapshot.of({path: dedent(text).encode() for path, text in files.items()})
    [found] = estimate(snapshot, Request(entry=entry, **request))
    return found


def line_of(script: str, text: str) -> int:
    """The line of a script on which ``text`` stands first."""
    return next(number for number, line in enumerate(dedent(script).splitlines(), 1) if text in line)


#: A training script with a model of its own; ``{forward}`` is the body of its forward, ``{above}`` stands before the class.
SMALL = """
import torch
from torch import nn

{above}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(64, 64)
        self.outer = nn.Linear(64, 10)

    def forward(self, x):
        {forward}


model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters())
data = torch.utils.data.TensorDataset(torch.randn(512, 64), torch.randint(0, 10, (512,)))
for x, y in torch.utils.data.DataLoader(data, batch_size=32):
    loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def small(forward: str, above: str = "") -> str:
    """That script with its parts filled in."""
    return SMALL.replace("{forward}", forward.replace("\n", "\n        ")).replace("{above}", above)
