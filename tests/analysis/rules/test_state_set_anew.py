"""A layer that keeps state, alone in a repository: whether another method of it sets the state decides."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import hidden_state_graph, retained_graph
from analysis.snapshot import Snapshot

LAYER = """
import torch
from torch import nn

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRU(4, 4)
        self.state = None

    def {method}(self, x):
        {line}

    def forward(self, x):
        out, self.state = self.cell(x, self.state)
        return out
"""


@pytest.mark.parametrize(("method", "line", "found"), [("prepare", "self.state = x.new_zeros(1, 4, 4)", False), ("scaled", "return 2 * x", True)])
def test_a_method_may_set_the_state_before_each_batch(method, line, found):
    report = analyse(Snapshot.of({"encoder.py": LAYER.format(method=method, line=line).encode()}), [hidden_state_graph.RULE])
    assert [finding.rule for finding in report.findings] == ["hidden-state-graph"] * found


STACKED = """

class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = Encoder(), nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.encoder(x))
"""


@pytest.mark.parametrize(("line", "found"), [("self.state = None", False), ("return 2 * x", True)])
def test_so_it_may_where_the_layer_is_part_of_another(line, found):
    program = LAYER.format(method="prepare", line=line) + STACKED
    report = analyse(Snapshot.of({"stack.py": program.encode()}), [hidden_state_graph.RULE])
    assert [finding.rule for finding in report.findings] == ["hidden-state-graph"] * found


HOOKED = """
import lightning as L
import torch

class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.cell, self.state = torch.nn.GRU(4, 4), None

    def on_train_epoch_start(self):
        self.state = None

    def training_step(self, batch, index):
        out, self.state = self.cell(batch, self.state)
        return out.mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
"""


def test_a_hook_that_runs_once_an_epoch_sets_no_state_before_each_batch():
    report = analyse(Snapshot.of({"model.py": HOOKED.encode()}), [hidden_state_graph.RULE])
    assert [finding.rule for finding in report.findings] == ["hidden-state-graph"]


CACHED = """
import torch
from torch import nn

class Causal(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.cached = nn.Conv1d(4, 4, 3), []

    def forward(self, x):
        self.cached.append(x[:, :, -2:].clone() * self.conv.weight.sum())
        return self.conv(x)
"""
SERVED = """
def serve(model, clips):
    for part in model.modules():
        if hasattr(part, "{name}"):
            part.{name} = []
    return [model(clip) for clip in clips]
"""


@pytest.mark.parametrize(("name", "found"), [("cached", False), ("kept", True)])
def test_other_code_may_empty_what_a_layer_keeps(name, found):
    files = {"causal.py": CACHED, "serve.py": SERVED.format(name=name)}
    report = analyse(Snapshot.of({path: text.encode() for path, text in files.items()}), [retained_graph.RULE])
    assert [finding.rule for finding in report.findings] == ["retained-graph"] * found


@pytest.mark.parametrize(("decorated", "found"), [("@torch.inference_mode()\n    def", False), ("def", True)])
def test_a_layer_of_a_model_that_only_infers_keeps_no_graph(decorated, found):
    program = LAYER.format(method="scaled", line="return 2 * x") + STACKED.replace("def forward", f"{decorated} forward")
    report = analyse(Snapshot.of({"stack.py": program.encode()}), [hidden_state_graph.RULE])
    assert [finding.rule for finding in report.findings] == ["hidden-state-graph"] * found
