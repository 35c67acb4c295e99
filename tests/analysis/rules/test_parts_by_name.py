"""A loss that is put together of the parts of an output by their names goes back through its forward."""

from __future__ import annotations

from analysis.engine import analyse
from analysis.rules import retained_graph
from analysis.snapshot import Snapshot

PROGRAM = """
import torch

def total(out):
    loss = torch.tensor(0.0)
    for key in out.model_fields:
        value = getattr(out, key)
        if "loss" in key and isinstance(value, torch.Tensor):
            loss = loss + value
    return loss

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    results = []
    for x in loader:
        optimizer.zero_grad()
        out = model(x)
        results.append(out)
        total(out).backward()
        optimizer.step()
    return results
"""


def test_the_graph_is_gone_through():
    [finding] = analyse(Snapshot.of({"train.py": PROGRAM.encode()}), [retained_graph.RULE]).findings
    assert finding.severity.label == "warning"  # its backward has run: an error would say that none ever does
