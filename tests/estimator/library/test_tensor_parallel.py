"""Layers split over devices by a plan: one device holds its part of the weights and of the sequence."""

from __future__ import annotations

from tests.estimator.script.running import estimated

SCRIPT = """
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(1024, 4096, bias=False), nn.Linear(4096, 1024, bias=False)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))

model = nn.Sequential(*[Block() for _ in range(4)])
mesh = init_device_mesh("cuda", (2, {ways}), mesh_dim_names=("dp", "tp"))
for block in model:
    parallelize_module(block, mesh["tp"], {{"up": ColwiseParallel({given}), "down": RowwiseParallel({wanted})}})
model = model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    y = model(torch.zeros(8, {length}, 1024, device="cuda"))
    assert y.shape == (8, {length}, 1024)
    y.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
WHOLE = 4 * 2 * 1024 * 4096 * 4


def held(ways, length=128, given="", wanted=""):
    return estimated(SCRIPT.format(ways=ways, length=length, given=given, wanted=wanted)).memory.components


def test_weights_are_held_in_parts():
    assert held(1).parameters == WHOLE
    assert held(4).parameters == WHOLE // 4


def test_what_lies_between_the_layers_is_a_part_and_what_enters_them_is_whole():
    whole, split = held(1, length=2048), held(4, length=2048)
    inner, outer = 4 * 8 * 2048 * 4096 * 4, 4 * 8 * 2048 * 1024 * 4
    assert whole.activations > inner + outer
    assert inner // 4 + outer < split.activations < inner // 2 + outer


def test_a_part_of_the_sequence_is_gathered_for_the_layer():
    layouts = {"given": "input_layouts=Shard(1)", "wanted": "output_layouts=Shard(1)"}
    split = held(4, length=32, **layouts)
    assert split.parameters == WHOLE // 4
    assert split.activations > 4 * 8 * 128 * 1024 * 4  # the gathered inputs, kept for backward


def test_distributed_tensors_are_not_guessed():
    found = estimated(SCRIPT.format(ways=4, length=128, given="use_local_output=False", wanted=""))
    assert found.memory.components.parameters == WHOLE
    assert any("whole layers" in sentence for sentence in found.unknowns)
