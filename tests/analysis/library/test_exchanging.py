"""What ranks exchange in functions of a change that nothing else runs."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.program import trace_program
from analysis.rule import discover
from analysis.snapshot import Snapshot

ENGINE = """
import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.tensor import DTensor

class Engine:
    def __init__(self, model, group):
        self.model, self.group = model, group

    def send(self):
        {guard}
            for name, parameter in self.model.named_parameters():
                whole = parameter.full_tensor() if isinstance(parameter, DTensor) else parameter
                print(name, whole)

    def threshold(self, scores: Tensor, mask: Tensor):
        picked = {picked}
        parts = [torch.zeros_like(picked) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, picked)
        return torch.cat(parts).quantile(0.9)
"""


def found(guard="if dist.get_rank() == 0:", picked="scores[mask.bool()]", changed=("engine.py",)):
    snapshot = Snapshot.of({"engine.py": ENGINE.format(guard=guard, picked=picked).encode()})
    rules = [rule for rule in discover() if rule.name in {"rank-conditional-collective", "uneven-gather"}]
    traces = list(trace_program(snapshot, index(snapshot, {}), ["engine.py"], changed))
    return {reported.finding.rule for trace in traces for rule in rules for reported in rule.check(trace)}


def test_functions_of_a_change_are_run_on_several_ranks():
    assert found() == {"rank-conditional-collective", "uneven-gather"}


@pytest.mark.parametrize(
    ("right", "left"),
    [({"guard": "with torch.no_grad():"}, "uneven-gather"), ({"picked": "scores.mean()"}, "rank-conditional-collective")],
)
def test_what_is_right_is_not_reported(right, left):
    assert found(**right) == {left}


def test_other_files_are_not_run_for_it():
    assert found(changed=()) == set()
