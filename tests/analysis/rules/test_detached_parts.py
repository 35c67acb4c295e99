"""A record of outputs whose loss was cut off its graph is kept without it, as far as can be told."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

TRAINER = """
import torch

class Trainer:
    def train(self, loader: torch.utils.data.DataLoader, module: torch.nn.Module, optimizer: torch.optim.Optimizer):
        module.train()
        outputs = []
        for i, batch in enumerate(loader):
            optimizer.zero_grad()
            output = module.training_step(batch, i)
            output["loss"].backward()
            optimizer.step()
            {cut}
            outputs.append(output)
        return module.training_epoch_end(outputs)
"""


@pytest.mark.parametrize(("cut", "rules"), [("pass", ["retained-graph"]), ('output["loss"] = output["loss"].detach()', [])])
def test_a_record_without_its_graph_may_be_kept(cut: str, rules: list[str]) -> None:
    asked = [rule for rule in discover() if rule.name in {"retained-graph", "detached-loss", "evaluation-in-train-mode"}]
    report = analyse(Snapshot.of({"trainer.py": TRAINER.format(cut=cut).encode()}), asked)
    assert [finding.rule for finding in report.findings] == rules


HARD = """
import torch
from torch.nn import functional as F

def overlap(scores, wanted):
    hard = {hard}
    return 1 - 2 * (hard * wanted).sum() / (hard.sum() + wanted.sum())

def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        scores = net(x)
        optimizer.zero_grad()
        (F.cross_entropy(scores, y) + overlap(scores, F.one_hot(y, 4))).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("hard", "found"), [("F.one_hot(scores.argmax(1), 4).float()", 1), ("(scores.sigmoid() > 0.5).float()", 1), ("scores.softmax(1)", 0)])
def test_a_term_of_decisions_has_no_gradient(hard: str, found: int) -> None:
    asked = [rule for rule in discover() if rule.name == "detached-loss"]
    report = analyse(Snapshot.of({"train.py": HARD.format(hard=hard).encode()}), asked)
    assert len(report.findings) == found
