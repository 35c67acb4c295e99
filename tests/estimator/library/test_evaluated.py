"""A text that is evaluated is read where it stands; names that are not there raise what a script waits for."""

from __future__ import annotations

from analysis.snapshot import Snapshot
from estimator.request import Request
from estimator.run import estimate

SCRIPT = b"""
import contextlib
import torch
from torch import nn

layers = []
for kind, arguments in [("nn.Linear", [8, "width * 2"]), ("Head", ["2 * width", "mean"])]:
    kind = eval(kind) if isinstance(kind, str) else kind
    for place, text in enumerate(arguments):
        with contextlib.suppress(NameError):
            arguments[place] = eval(text) if isinstance(text, str) else text
    layers.append((kind, arguments))
"""
MODEL = b"""
import torch
from torch import nn

class Head(nn.Module):
    def __init__(self, inputs, reduction):
        super().__init__()
        self.linear = nn.Linear(inputs, 3)
        self.reduction = reduction

    def forward(self, x):
        return getattr(self.linear(x), self.reduction)()

width = 4
"""
TRAINS = b"""
model = nn.Sequential(*(kind(*arguments) for kind, arguments in layers)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(torch.zeros(5, 8, device="cuda")).backward()
    optimizer.step()
"""


def test_texts_of_a_configuration_are_evaluated_in_their_place():
    [found] = estimate(Snapshot.of({"train.py": MODEL + SCRIPT + TRAINS}), Request(entry="train.py"))
    assert found.unknowns == ()
    assert found.memory.parameters == (8 * 8 + 8) + (8 * 3 + 3)
