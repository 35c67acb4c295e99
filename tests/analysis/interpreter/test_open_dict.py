"""Keyword arguments of which the source does not tell all."""

from __future__ import annotations

from analysis.index import index
from analysis.library.domain import World
from analysis.library.entries import Entry
from analysis.library.running import run
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

PROGRAM = """
import torch

class Trainer:
    def __init__(self, a=1, **kwargs):
        self.named = kwargs.get("c", 0)
        self.inner(**kwargs)

    def inner(self, b=0, **kwargs):
        self.flag = kwargs.get("flag", False)
        self.other = kwargs.pop("other", False)

trainer = Trainer(a=2, b=3, c=4, **torch.load("options"))
net = torch.nn.Linear(1, 1)
if trainer.named == 4:
    net.train()
if trainer.flag and trainer.other:
    net.eval()
"""


def kinds(*, flags: bool) -> list[Kind]:
    snapshot = Snapshot.of({"train.py": PROGRAM.encode()})
    ended = run(snapshot, index(snapshot), Entry("train.py"), World(flags=flags))
    assert ended is not None
    return [event.kind for event in ended.trace(snapshot, Entry("train.py")).events(Kind.TRAIN_MODE, Kind.EVAL_MODE)]


def test_what_is_not_named_may_be_in_the_rest():
    assert kinds(flags=True) == [Kind.TRAIN_MODE, Kind.EVAL_MODE]
    assert kinds(flags=False) == [Kind.TRAIN_MODE]
