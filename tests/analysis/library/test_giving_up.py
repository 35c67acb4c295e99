"""An exception that is only caught to end the program is a gap of ours, as one that nobody catches."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.entries import Entry
from analysis.library.running import run
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

PROGRAM = """
import sys
import torch

def check(data):
    if not data:
        raise RuntimeError("nothing there")
    return data

def main():
    net = torch.nn.Linear(1, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    check([])
    net(torch.ones(1)).sum().backward()
    opt.step()

try:
    main()
except {caught}:
    print("failed")
    {then}
"""


@pytest.mark.parametrize(
    ("caught", "then", "steps"),
    [("Exception", "sys.exit(1)", 1), ("Exception", "raise", 1), ("KeyboardInterrupt", "pass", 1), ("RuntimeError", "pass", 0)],
)
def test_who_gives_up_expected_no_failure(caught, then, steps):
    snapshot = Snapshot.of({"train.py": PROGRAM.format(caught=caught, then=then).encode()})
    ended = run(snapshot, index(snapshot), Entry("train.py"))
    assert ended is not None
    assert sum(1 for _ in ended.trace(snapshot, Entry("train.py")).events(Kind.STEP)) == steps
