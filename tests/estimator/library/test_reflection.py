"""Python's questions about a module are answered by its parameters, buffers and parts as well."""

from __future__ import annotations

from tests.estimator.script.running import estimated

SCRIPT = """
import importlib
import torch
from torch import nn

functional = importlib.import_module("torch.nn.functional")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.scale = nn.Buffer(torch.ones(64))
        self.size = 64 if hasattr(self, "first") and not hasattr(self, "second") else 4096
        self.last = nn.Linear(64, getattr(self, "width", 8))

    def forward(self, x):
        return self.last(functional.relu(self.first(x * self.scale)))

model = Net().cuda()
assert model.size == 64 and len(list(model.buffers())) == 1
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(torch.zeros(4, 64, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_attributes_of_modules_are_asked_for_with_and_without_a_default():
    found = estimated(SCRIPT)
    assert found.unknowns == ()
    assert found.memory.parameters == 64 * 64 + 64 + 64 * 8 + 8
    assert found.memory.components.buffers == 512
