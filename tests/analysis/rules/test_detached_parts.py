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
