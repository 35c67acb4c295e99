"""States of an accelerator that one process alone saves, and conditions that let the others through where each of them holds a part."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import guarded_sharded_save
from analysis.snapshot import Snapshot

SAVING = """
import torch
from accelerate import Accelerator, DistributedType
from accelerate.utils import FullyShardedDataParallelPlugin

def train(data, sharded):
    accelerator = Accelerator({plugin})
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(data))
    for x, y in loader:
        optimizer.zero_grad()
        accelerator.backward(torch.nn.functional.mse_loss(model(x), y))
        optimizer.step()
        if {condition}:
            accelerator.save_state("last")
"""
PLUGIN = "fsdp_plugin=FullyShardedDataParallelPlugin()"


@pytest.mark.parametrize(
    ("plugin", "condition", "found"),
    [
        ("", "accelerator.is_main_process", ["warning"]),
        ("", "accelerator.is_main_process or sharded", []),
        ("", "accelerator.distributed_type == DistributedType.DEEPSPEED or accelerator.is_main_process", []),
        (PLUGIN, "accelerator.is_main_process", ["error"]),
        (PLUGIN, "accelerator.is_main_process or sharded", ["error"]),
    ],
)
def test_others_may_come_where_the_model_is_sharded(plugin, condition, found):
    program = SAVING.format(plugin=plugin, condition=condition)
    report = analyse(Snapshot.of({"train.py": program.encode()}), [guarded_sharded_save.RULE])
    assert [finding.severity.label for finding in report.findings] == found


ENGINE = """
import deepspeed
import torch
import torch.distributed as dist

def train(net: torch.nn.Module, data):
    engine, _, loader, _ = deepspeed.initialize(model=net, model_parameters=net.parameters(), training_data=data, config="zero.json")
    for batch in loader:
        engine.backward(engine(batch).mean())
        engine.step()
        if {condition}:
            engine.save_checkpoint("last")
"""


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("engine.global_steps % 500 == 0", False),
        ("engine.global_steps % 500 == 0 and dist.get_rank() == 0", True),
        ("dist.get_rank() == 0 and engine.global_steps > 1000", True),
    ],
)
def test_what_an_engine_counts_changes_as_it_goes(condition, found):
    report = analyse(Snapshot.of({"train.py": ENGINE.format(condition=condition).encode()}), [guarded_sharded_save.RULE])
    assert [finding.rule for finding in report.findings] == ["guarded-sharded-save"] * found
