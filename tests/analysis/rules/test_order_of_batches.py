"""Whether the order of the batches matters: a model that carries a state from one to the next, and one whose forward is only made again."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import unshuffled_training
from analysis.snapshot import Snapshot

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Texts(Dataset):
    def __init__(self, path):
        self.items = torch.load(path)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList(nn.GRUCell(4, 4) for _ in range(6))
        self.first = nn.Linear(4, 4)
        self.state = torch.zeros(1, 4)

    def forward(self, x):
        x = self.first(x)
        for cell in self.cells:
            {step}
        return x.relu() + x.tanh()

class Distance(nn.Module):
    def forward(self, a, b):
        return (a - b).square().mean()

model, distance = Net(), Distance()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Texts("a.pt"), batch_size=8)
for epoch in range(10):
    for x, y in loader:
        optimizer.zero_grad()
        distance(model(x), y).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("step", "found"), [("x = cell(x)", True), ("x = self.state = cell(x, self.state.detach())", False)])
def test_a_forward_that_is_made_again_carries_no_state(step, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(step=step).encode()}), [unshuffled_training.RULE])
    assert [finding.rule for finding in report.findings] == ["unshuffled-training"] * found


FORECAST = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head, self.state = nn.GRU(3, 8), nn.Linear(8, 1), None

    def forward(self, x):
        made, state = self.rnn(x, {given})
        self.state = state.detach()
        return self.head(made[-1])

values = torch.load("series.pt")
model = Forecast()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(values[:-1], values[1:]), batch_size=8)
for epoch in range(10):
    model.state = None
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("given", "found"), [("self.state", False), ("None", True)])
def test_a_state_that_a_model_finds_in_itself_is_carried(given: str, found: bool) -> None:  # noqa: FBT001
    report = analyse(Snapshot.of({"train.py": FORECAST.format(given=given).encode()}), [unshuffled_training.RULE])
    assert [finding.rule for finding in report.findings] == ["unshuffled-training"] * found


def test_a_loader_that_is_built_anew_for_each_epoch_keeps_the_order():
    anew = PROGRAM.format(step="x = cell(x)").replace("for x, y in loader", "for x, y in DataLoader(texts, batch_size=8)")
    anew = anew.replace('loader = DataLoader(Texts("a.pt"), batch_size=8)', 'texts = Texts("a.pt")')
    report = analyse(Snapshot.of({"train.py": anew.encode()}), [unshuffled_training.RULE])
    assert [finding.rule for finding in report.findings] == ["unshuffled-training"]
