"""A running sum that is made anew in every iteration, as a record or a dictionary, keeps the graphs of what it was made of."""

import pytest

from analysis.engine import analyse
from analysis.rules import retained_graph
from analysis.snapshot import Snapshot

TRACKER = """
import collections

class Tracker(collections.defaultdict):
    def __init__(self):
        super().__init__(int)

    def __add__(self, other):
        made = Tracker()
        for name, value in self.items():
            made[name] = value
        for name, value in other.items():
            if value - value == 0:
                made[name] = made[name] + value
        return made

    def __mul__(self, factor):
        made = Tracker()
        for name, value in self.items():
            made[name] = value * factor
        return made
"""
RECORD = """
class Tracker(dict):
    loss = 0

    def __add__(self, other):
        made = Tracker()
        made.loss = self.loss + other["loss"]
        return made

    def __mul__(self, factor):
        made = Tracker()
        made.loss = self.loss * factor
        return made
"""
TRAINING = """
import torch
from tracker import Tracker

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = Tracker()
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        now = Tracker()
        for name in ("frames", "utterances", "seconds", "words"):
            now[name] = len(x)
        now["loss"] = loss{end}
        total = total * 0.99 + now
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(total)
"""


@pytest.mark.parametrize("kind", [TRACKER, RECORD], ids=["dictionary", "attributes"])
@pytest.mark.parametrize(("end", "found"), [("", 1), (".detach()", 0), (".item()", 0)])
def test_a_sum_that_is_made_anew_from_the_one_before_keeps_its_graph(kind: str, end: str, found: int):
    files = {"tracker.py": kind.encode(), "train.py": TRAINING.format(end=end).encode()}
    report = analyse(Snapshot.of(files), [retained_graph.RULE])
    assert [(each.span.path, each.message.split(" keeps")[0]) for each in report.findings] == [("train.py", "`total`")] * found
