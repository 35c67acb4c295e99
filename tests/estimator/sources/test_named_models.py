"""A model that ``timm`` makes by its name is the library's own, where its source is at hand and the zoo has none of that name."""

from __future__ import annotations

import pytest

from analysis.snapshot import Snapshot
from bot.sources.release import LocalShelf
from estimator.request import Request
from estimator.run import estimate

FAMILY = """
from torch import nn
from ._registry import register_model

class Plain(nn.Module):
    def __init__(self, num_classes=1000, in_chans=3, drop_rate=0.0):
        super().__init__()
        self.stem = nn.Conv2d(in_chans, 8, 3, 2, 1)
        self.fc = nn.Linear(8, num_classes)

    def forward(self, x):
        return self.fc(self.stem(x).mean((2, 3)))

@register_model
def plainnet_s(pretrained=False, **kwargs):
    return Plain(**kwargs)
"""
REGISTRY = "def register_model(function):\n    return function\n"
SCRIPT = """
import timm
import torch

model = timm.create_model("{name}", pretrained=True, num_classes=10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(9):
    loss = torch.nn.functional.cross_entropy(model(torch.randn(4, 3, 64, 64, device="cuda")), torch.zeros(4, dtype=torch.long, device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.fixture
def shelf(tmp_path):
    models = tmp_path / "timm" / "1.0.31" / "timm" / "models"
    models.mkdir(parents=True)
    (models / "plainnet.py").write_text(FAMILY)
    (models / "_registry.py").write_text(REGISTRY)
    return LocalShelf(tmp_path)


def estimated(name, shelf):
    [found] = estimate(Snapshot.of({"train.py": SCRIPT.format(name=name).encode()}), Request(entry="train.py", shelf=shelf))
    return found


@pytest.mark.parametrize("name", ["plainnet_s", "timm/plainnet_s.some_weights", "plainnet_s_in21k"])
def test_a_name_that_only_the_library_knows(shelf, name):
    found = estimated(name, shelf)
    assert found.unknowns == ()
    assert found.memory.parameters == 3 * 8 * 9 + 8 + 8 * 10 + 10
    assert found.config.model.value == name.rpartition("/")[2].partition(".")[0]


def test_what_neither_knows_is_said_with_what_would_help(shelf):
    assert "train.py:5: the model otherish_s of timm is not modelled yet" in estimated("otherish_s", shelf).unknowns
    said = estimated("plainnet_s", None).unknowns
    assert (
        "train.py:5: the model plainnet_s of timm is not modelled yet, and the library's own source is not at hand: `preflight sources add timm==VERSION`"
        in said
    )
