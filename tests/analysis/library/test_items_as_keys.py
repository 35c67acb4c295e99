"""Items under which something else is looked up are names: what gives them is no loader, and asking for a name is no question about a rank's data."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import rank_divergent_branch
from analysis.snapshot import Snapshot

COUNTING = """
import torch.distributed as dist
import torch

def count(graph, kinds, encoder, options):
    found = 0
    for kind in kinds:
        if {asked}:
            size = torch.tensor(len(graph.edges[kind].data[{mask}]))
            dist.all_reduce(size)
            found += size
        encoder.add(torch.nn.Linear(1, 1)).to(kind.to("cpu"))
    return found

def main(graph, options, encoder):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    print(len(options.kinds))
    count(graph, options.kinds, encoder, rank)

main(build(), read(), make())
"""


@pytest.mark.parametrize(
    ("asked", "mask", "found"),
    [
        ('"held_out" in graph.edges[kind].data', '"held_out"', False),
        ("graph.edges[kind].data", '"held_out"', False),
        ("graph.edges[options].data", '"held_out"', True),
        ('"held_out" in graph.edges[options].data', '"held_out"', False),
    ],
)
def test_names_are_the_same_on_every_rank(asked, mask, found):
    report = analyse(Snapshot.of({"train.py": COUNTING.format(asked=asked, mask=mask).encode()}), [rank_divergent_branch.RULE])
    assert [finding.rule for finding in report.findings] == ["rank-divergent-branch"] * found
