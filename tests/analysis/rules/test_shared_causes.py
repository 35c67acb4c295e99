"""One cause, one finding; and what only looks like a cause: a backbone that another model switched back, a word in a docstring, indices."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.finding import Severity
from analysis.rules import evaluation_in_train_mode, evaluation_with_grad, stuck_in_eval
from analysis.snapshot import Snapshot

PROBE = """
import torch
from torch import nn

class Probe(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        return self.head(self.backbone(x))

backbone = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8))
whole = nn.Sequential(backbone, nn.Linear(8, 2))
data = torch.utils.data.DataLoader(torch.load("images.pt"), batch_size=2)

def fit(model, step):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in data:
        optimizer.zero_grad()
        nn.functional.cross_entropy(step(x), y).backward()
        optimizer.step()

fit(whole, lambda x: whole[1](whole[0](x)))
whole.eval()
with torch.no_grad():
    print(whole[0](torch.rand(2, 3)))
probe = Probe(backbone)
{mode}
fit(probe, probe.forward)
"""
ASKING = """
import torch
from torch import nn

class Net(nn.Module):
    {documented}
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)

    def forward(self, x):
        return {output}

data = torch.utils.data.DataLoader(torch.load("images.pt"), batch_size=2)
held_out = torch.utils.data.DataLoader(torch.load("others.pt"), batch_size=2)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net.train()
for x, y in data:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
with torch.no_grad():
    for x, y in held_out:
        print(nn.functional.cross_entropy(net(x), y))
"""
TWO_CALLERS = """
import torch
from torch import nn

def play(net, games):
    for game in games:
        print(net(game).detach())

def first(net, games):
    net.eval()
    play(net, games)
    net.train()

def second(net, games):
    net.eval()
    play(net, games)
    net.train()

net = nn.Linear(8, 8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.utils.data.DataLoader(torch.load("images.pt"), batch_size=2)
for x, y in data:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
first(net, data)
second(net, data)
"""
WRITING = """
import torch
from torch import nn

net = nn.Linear(8, 8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.utils.data.DataLoader(torch.load("images.pt"), batch_size=2)
for x, y in data:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
net.eval()
written = next(iter(data))[0]
for _ in range(100):
    likely, places = net(written).topk(5)
    written = torch.cat((written, {taken}))
print(written)
"""

PREPARING = """
import torch
from torch import nn

def transcribe(front, net, loader):
    front.eval()
    net.eval()
    for x in loader:
        features = front(x)
        with torch.no_grad():
            print(net({given}).argmax(-1))
"""


@pytest.mark.parametrize(("mode", "found"), [("", 1), ("probe.train()", 0)])
def test_a_backbone_is_switched_back_by_whoever_holds_it(mode: str, found: int) -> None:
    report = analyse(Snapshot.of({"train.py": PROBE.format(mode=mode).encode()}), (stuck_in_eval.RULE,))
    assert len(report.findings) == found


@pytest.mark.parametrize(
    ("documented", "output", "found"),
    [
        ("'''Made for training on spectrograms: no dropout is needed.'''", "self.first(x)", 0),
        ("", "self.first(x) if self.training else self.first(x).softmax(1)", 1),
        ("", "nn.functional.dropout(self.first(x), 0.5, self.is_training_now)", 1),
    ],
)
def test_only_code_asks_for_the_mode(documented: str, output: str, found: int) -> None:
    report = analyse(Snapshot.of({"train.py": ASKING.format(documented=documented, output=output).encode()}), (evaluation_in_train_mode.RULE,))
    assert len(report.findings) == found


def test_one_loop_without_no_grad_is_one_finding() -> None:
    report = analyse(Snapshot.of({"train.py": TWO_CALLERS.encode()}), (evaluation_with_grad.RULE,))
    assert len(report.findings) == 1


@pytest.mark.parametrize(("taken", "severity"), [("likely", Severity.ERROR), ("places", Severity.WARNING)])
def test_indices_carry_no_graph_from_round_to_round(taken: str, severity: Severity) -> None:
    report = analyse(Snapshot.of({"train.py": WRITING.format(taken=taken).encode()}), (evaluation_with_grad.RULE,))
    assert [finding.severity for finding in report.findings] == [severity]


@pytest.mark.parametrize(("given", "found"), [("x", 1), ("features.float()", 0)])
def test_what_prepares_inputs_outside_no_grad_may_have_no_parameters(given: str, found: int) -> None:
    report = analyse(Snapshot.of({"train.py": PREPARING.format(given=given).encode()}), (evaluation_with_grad.RULE,))
    assert len(report.findings) == found
