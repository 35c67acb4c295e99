"""Calls whose result nobody keeps because it is not what they are called for."""

from __future__ import annotations

import json

import pytest

from analysis.engine import analyse
from analysis.rules import discarded_result
from analysis.snapshot import Snapshot

PROGRAM = """
import matplotlib.pyplot as plt
import torch
from datasets import load_dataset

data = load_dataset("x", split="train")
data.set_format("torch")
net = torch.nn.Linear(4, 1)
whole = torch.empty(8, 4)
kept, (figure, axes) = [], plt.subplots(1, 2)

def collect(row):
    kept.append(row["x"])

def shift(row):
    return {{"x": row["x"] + 1}}

optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for row in torch.utils.data.DataLoader(data, batch_size=8):
    optimizer.zero_grad()
    {call}
    net(row["x"]).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("data.map(shift)", True),
        ("data.map(function=collect)", False),
        ("data.map(collect, batched=True)", False),
        ("torch.cat([row['x'], row['x']])", True),
        ("torch.cat([row['x'], row['x']], out=whole)", False),
        ("axes[0].scatter(row['x'], whole)", False),
    ],
)
def test_what_is_called_for_its_effect(call, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(call=call).encode()}), [discarded_result.RULE])
    assert [finding.rule for finding in report.findings] == ["discarded-result"] * found


@pytest.mark.parametrize(("cells", "found"), [(["val.view(4, 1)"], False), (["val.view(4, 1)\nprint(val)"], True)])
def test_a_notebook_shows_the_last_expression_of_a_cell(cells, found):
    sources = ["import torch\nval = torch.nn.Linear(4, 4)(torch.rand(4))", *cells, "val.sum().backward()"]
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": source} for source in sources]})
    report = analyse(Snapshot.of({"look.ipynb": notebook.encode()}), [discarded_result.RULE])
    assert [finding.rule for finding in report.findings] == ["discarded-result"] * found
