"""Freezing a part of a model whose structure is not told leaves the rest to train."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import evaluation_with_grad, frozen_by_mistake
from analysis.snapshot import Snapshot

PROGRAM = """
import torch
from timm.models import create_model

def main(loader):
    model = create_model("vit")
    {frozen}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

main(torch.utils.data.DataLoader([1]))
"""


@pytest.mark.parametrize(
    ("frozen", "found"),
    [
        ("for p in model.parameters():\n        p.requires_grad = False", True),
        ("for p in model.patch_embed.parameters():\n        p.requires_grad = False", False),
        ("model.get_parameter('cls_token').requires_grad_(False)", False),
        ("model.requires_grad_(False)\n    for p in model.head.parameters():\n        p.requires_grad = True", False),
        ("model.requires_grad_(False)\n    model.head.requires_grad_(True)", False),
        ("model.requires_grad_(False)\n    model.head.train()", True),
    ],
)
def test_parts(frozen, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(frozen=frozen).encode()}), [frozen_by_mistake.RULE])
    assert bool(report.findings) is found


FEATURES = """
import torch
from torchvision import models

class Distance(torch.nn.Module):
    def __init__(self):
        super().__init__()
        features = models.vgg16(pretrained=True).features
        self.first = torch.nn.Sequential()
        for x in range(4):
            self.first.add_module(str(x), features[x])
        {frozen}

    def forward(self, a, b):
        return (self.first(a) - self.first(b)).abs().mean()

def score(pairs):
    distance = Distance().to("cuda")
    distance.eval()
    return min(distance(a, b).item() for a, b in pairs)

print(score(torch.utils.data.DataLoader([1])))
"""


@pytest.mark.parametrize(
    ("frozen", "found"), [("self.requires_grad_(False)", False), ("for p in self.parameters(): p.requires_grad = False", False), ("pass", True)]
)
def test_what_holds_parts_of_a_model_freezes_them(frozen, found):
    report = analyse(Snapshot.of({"train.py": FEATURES.format(frozen=frozen).encode()}), [evaluation_with_grad.RULE])
    assert bool(report.findings) is found


AVERAGED = """
import copy
import torch
from factory import build

def evaluate(options, loader):
    net = build(options).train().requires_grad_({flag}).to("cuda")
    optimizer = torch.optim.Adam(net.parameters())
    average = copy.deepcopy(net).eval()
    for mine, other in zip(average.parameters(), net.parameters()):
        mine.copy_(other.lerp(mine, 0.9))
    correct = 0
    for x, y in loader:
        correct += (average(x).argmax(1) == y).sum().item()
    return correct
"""


@pytest.mark.parametrize(("flag", "found"), [("False", False), ("True", True)])
def test_what_is_known_for_a_model_later_was_frozen_before(flag, found):
    report = analyse(Snapshot.of({"train.py": AVERAGED.format(flag=flag).encode()}), [evaluation_with_grad.RULE])
    assert bool(report.findings) is found
