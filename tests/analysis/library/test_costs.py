"""A run whose steps go into what has nothing to do with training is run again without it."""

from __future__ import annotations

from analysis.index import index
from analysis.library.costs import costly
from analysis.library.entries import Entry
from analysis.library.program import trace_program
from analysis.library.running import run
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

PROGRAM = """
import torch

class Settings:
    def parse(self, depth):
        return [] if depth == 0 else [self.parse(depth - 1), self.parse(depth - 1), self.parse(depth - 1), self.parse(depth - 1)]

class Net(torch.nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.body = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.body(x)

def build():
    return Net(Settings().parse(9))

net = build()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net.train()
for step in range(3):
    net(torch.zeros(1, 4)).sum().backward()
    opt.step()
"""


def snapshot() -> Snapshot:
    return Snapshot.of({"train.py": PROGRAM.encode()})


def test_functions_in_which_nothing_happened_and_most_steps_went_are_costly():
    program = snapshot()
    ended = run(program, index(program), Entry("train.py"))
    assert ended is not None
    assert ended.came_to_nothing
    assert {getattr(node, "name", "") for node in costly(ended.machine)} == {"parse"}


def test_the_training_behind_them_is_seen():
    program = snapshot()
    (trace,) = trace_program(program, index(program), ["train.py"])
    assert trace.complete
    assert sum(1 for _ in trace.events(Kind.BACKWARD)) > 0
    assert any("takes more steps than are followed" in sentence for _, sentence in trace.unresolved)


ENDLESS = """
import torch

def lines(path):
    found = []
    while True:
        found.append(open(path).readline())
        if len(found) > 10 ** 9:
            return found

net = torch.nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = lines("data.txt")
for x in torch.utils.data.DataLoader(data):
    net(x).sum().backward()
    opt.step()
"""


def test_a_function_that_comes_to_no_end_is_costly():
    program = Snapshot.of({"train.py": ENDLESS.replace("while True", "for _ in range(10 ** 9)").encode()})
    ended = run(program, index(program), Entry("train.py"), budget=40)
    assert ended is not None
    assert ended.came_to_nothing
    assert {getattr(node, "name", "") for node in costly(ended.machine, ended.unfinished)} == {"lines"}
