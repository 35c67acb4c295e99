"""What results carry: graphs, owners, forwards and the operations that made them."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.interpreter.values import Value
from analysis.library.entries import Entry
from analysis.library.running import run
from analysis.library.tensor import Tensor, UndecidedError
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

BEFORE = """
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)
        self.head = nn.Linear(2, 2)

    def forward(self, x):
        return self.head(self.body(x).relu())

net = Net()
x = torch.randn(3, 2)
"""


def value_of(expression: str, before: str = "") -> Value:
    """What the expression gives, with everything that came before it."""
    snapshot = Snapshot.of({"train.py": f"{BEFORE}\n{before}\nresult = {expression}\n".encode()})
    ended = run(snapshot, index(snapshot), Entry("train.py"))
    assert ended is not None
    assert not ended.domain.failed
    return ended.machine.loaded["train.py"].vars["result"]


@pytest.mark.parametrize(
    ("expression", "attached"),
    [
        ("net(x)", True),
        ("net(x).sum() * 2 + 1", True),
        ("net(x).detach()", False),
        ("net(x).data", False),
        ("net(x).argmax(1)", False),
        ("net(x) == 0", False),
        ("net(x).cpu().numpy()", False),
        ("torch.tensor(net(x))", False),
        ("torch.stack([net(x), x])", True),
        ("x * 2", False),
        ("torch.zeros(2, requires_grad=True) * 2", True),
        ("F.softmax(net(x), dim=-1)", True),
        ("net.body.weight.square().sum()", True),
        ("net.state_dict()['weight'] * 2", False),
    ],
)
def test_graphs_are_carried_or_cut(expression, attached):
    assert value_of(expression).attached is attached


@pytest.mark.parametrize("before", ["torch.set_grad_enabled(False)", "for p in net.parameters():\n    p.requires_grad = False", "net.requires_grad_(False)"])
def test_nothing_is_recorded_without_grad_mode_or_trainable_parameters(before: str):
    assert not value_of("net(x)", before).attached


def test_a_model_that_is_frozen_in_part_still_trains():
    assert value_of("net(x)", "for p in net.body.parameters():\n    p.requires_grad = False").attached


def test_outputs_belong_to_the_model_that_was_called():
    result = value_of("net(x).mean()")
    assert [owner.cls.name for owner in result.owners] == ["Net"]
    assert len(result.forwards) == 1


def test_a_result_remembers_how_it_was_made():
    loss = value_of("F.cross_entropy(torch.softmax(net(x), -1), x.argmax(1))")
    assert loss.made.op == "cross_entropy"
    assert loss.made.inputs[0].made.op == "softmax"
    assert isinstance(loss.made.inputs[0].made.inputs[0], Tensor)


def test_parts_of_an_unknown_output_carry_its_graph():
    result = value_of("model(x).loss", "import torchvision\nmodel = torchvision.models.resnet18()")
    assert result.attached
    assert result.made.op == "attribute"


def test_two_ways_join_into_one_tensor():
    result = value_of("y", "y = net(x)\nfor i in range(2):\n    if torch.rand(1) > 0.5:\n        y = x")
    assert result.attached
    assert result.made.op == "join"


def test_the_host_never_decides_what_a_tensor_holds():
    tensor = value_of("net(x)")
    with pytest.raises(UndecidedError):
        bool(tensor)
    with pytest.raises(UndecidedError):
        len(tensor)


def test_reading_a_number_is_an_event():
    snapshot = Snapshot.of({"train.py": f"{BEFORE}\nif net(x).sum() > 0:\n    pass\nfloat(net(x).sum())\n".encode()})
    ended = run(snapshot, index(snapshot), Entry("train.py"))
    assert ended is not None
    assert len(list(ended.trace(snapshot, Entry("train.py")).events(Kind.ITEM))) == 2


def test_freezing_by_name_freezes_in_part():
    freezes = "import sys\nasked = sys.stdin.readline()\nfor name, p in net.named_parameters():\n    if {}:\n        p.requires_grad = False\n"
    for condition in ("name.startswith(asked)", "asked in name", "name == asked"):
        assert value_of("net(x)", freezes.format(condition)).attached
    assert not value_of("net(x)", freezes.format("True")).attached
