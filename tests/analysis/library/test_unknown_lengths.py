"""Lists whose length the source does not tell are never taken to be empty, however they are cut."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.entries import Entry
from analysis.library.running import run
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

PROGRAM = """
import os
import torch

def pairs(names, n=2):
    return ((name, k) for k in range(n) for name in names)

names = {names}
held = int(len(names) * 0.05)
net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for name in {part}:
    net(torch.zeros(1, 1)).sum().backward()
    opt.step()
"""
LISTED = "list(pairs(f for f in os.listdir('images')))"


def steps(names: str, part: str) -> int:
    snapshot = Snapshot.of({"train.py": PROGRAM.format(names=names, part=part).encode()})
    ended = run(snapshot, index(snapshot), Entry("train.py"))
    assert ended is not None
    return sum(1 for _ in ended.trace(snapshot, Entry("train.py")).events(Kind.STEP))


@pytest.mark.parametrize("part", ["names[:-held]", "names[held:]", "names[5000:]", "sorted(names)[:-held]", "[n for n in names][5000:]", "[names[7]]"])
def test_every_part_of_a_list_of_unknown_length_has_items(part):
    assert steps(LISTED, part) > 0


def test_a_list_of_known_length_is_cut_as_it_is():
    assert steps("['a', 'b', 'c']", "names[5:]") == 0
    assert steps("['a', 'b', 'c']", "names[1:]") == 2
