"""What is written into a table that something unknown hands out: whether it is the same one next time is not told."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import hidden_state_graph
from analysis.snapshot import Snapshot

EMBEDDING = """
import torch
from graphs import load

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.look_up = torch.nn.Embedding(10, 4)
        self.head = torch.nn.Linear(4, 1)

    def forward(self, table):
        table["who"] = self.look_up(table["who"])
        return self.head(table["who"])

def main():
    graph = load()
    table = graph{table}
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    for epoch in range(100):
        optimizer.zero_grad()
        net({given}).mean().backward()
        optimizer.step()

main()
"""


@pytest.mark.parametrize(("table", "given", "found"), [("", "graph.x_dict", False), ("", "table", True), ("()", "table", True), ("()", "dict(table)", False)])
def test_an_attribute_may_be_made_anew(table, given, found):
    report = analyse(Snapshot.of({"train.py": EMBEDDING.format(table=table, given=given).encode()}), [hidden_state_graph.RULE])
    assert [finding.rule for finding in report.findings] == ["hidden-state-graph"] * found
