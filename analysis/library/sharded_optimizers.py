"""Optimizers whose state is divided over the ranks: gathering it takes all of them."""

from __future__ import annotations

from analysis.interpreter.values import Call, Value
from analysis.library.knowledge import Example, Subject
from analysis.library.optimizers import OPTIMIZER
from analysis.library.recording import emit
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from torch.distributed.optim import ZeroRedundancyOptimizer

net = torch.nn.Linear(1, 1)
opt = ZeroRedundancyOptimizer(net.parameters(), optimizer_class=torch.optim.AdamW, lr=0.1)
opt.step()
opt.consolidate_state_dict(to=0)
""",
            ("optimizer_built ZeroRedundancyOptimizer", "step ZeroRedundancyOptimizer", "collective consolidate_state_dict"),
        ),
    ),
)

_SHARDED = SUBJECT.cls("torch.distributed.optim.ZeroRedundancyOptimizer", OPTIMIZER)


@_SHARDED.method("consolidate_state_dict")
def _consolidate(call: Call) -> Value:
    """Every rank sends its part of the state to one of them."""
    emit(call.machine, Kind.COLLECTIVE, subject="consolidate_state_dict", value=call.args[0])
