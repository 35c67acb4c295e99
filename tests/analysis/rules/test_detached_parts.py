"""A record of outputs whose loss was cut off its graph is kept without it, as far as can be told."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.rules import detached_loss, missing_zero_grad
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


STAGES = """
import torch
import torch.nn.functional as F
from inferers import Inferer
from networks import Decoder, Encoder

encoder = Encoder(3)
rows = torch.utils.data.DataLoader(torch.load("rows.pt"))
first = torch.optim.Adam(encoder.parameters())
for x in rows:
    first.zero_grad()
    F.l1_loss(encoder(x), x).backward()
    first.step()
with torch.no_grad():
    z = encoder(next(iter(rows)))
inferer = Inferer(scale=1 / z.std())
net = torch.nn.Linear(4, 4)
second = torch.optim.Adam(net.parameters())
for x in rows:
    second.zero_grad()
    loss = F.mse_loss(inferer(x{given}), z)
    loss.backward()
    second.step()
"""


@pytest.mark.parametrize(("given", "found"), [(", model=net", False), ("", True)])
def test_what_was_given_a_model_may_have_run_it(given: str, found: bool) -> None:  # noqa: FBT001
    report = analyse(Snapshot.of({"train.py": STAGES.format(given=given).encode()}), [detached_loss.RULE])
    assert bool(report.findings) is found


CLEARED = """
import torch
from elsewhere import detector

optimizer = torch.optim.SGD(detector.network.parameters(), 0.1)
optimizer.zero_grad()
for x, y in torch.utils.data.DataLoader(torch.load("rows.pt")):
    for parameter in detector.network.parameters():
        parameter.{cleared} = None
    detector(x, y)["loss"].backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("cleared", "found"), [("grad", False), ("name", True)])
def test_parameters_that_are_not_known_are_cleared_by_hand(cleared: str, found: bool) -> None:  # noqa: FBT001
    report = analyse(Snapshot.of({"train.py": CLEARED.format(cleared=cleared).encode()}), [missing_zero_grad.RULE])
    assert bool(report.findings) is found
