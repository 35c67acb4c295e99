"""Hooks that are run when a gradient is complete: an optimizer that steps within backward holds one gradient at a time."""

from __future__ import annotations

import pytest

from tests.estimator.script.running import estimated

SCRIPT = """
import torch
from torch import nn

net = nn.Sequential(*[nn.Linear(1024, 1024, bias=False) for _ in range(16)]).cuda()
WITHIN = {within}
if WITHIN:
    optimizers = {{p: torch.optim.Adam([p], foreach=False) for p in net.parameters()}}
    def step(p):
        optimizers[p].step()
        optimizers[p].zero_grad()
    for p in net.parameters():
        p.register_post_accumulate_grad_hook(step)
else:
    optimizer = torch.optim.Adam(net.parameters(), foreach=False)
for _ in range(10):
    net(torch.zeros(8, 1024, device="cuda")).sum().backward()
    if not WITHIN:
        optimizer.step()
        optimizer.zero_grad()
"""
WEIGHTS = 16 * 1024 * 1024 * 4


@pytest.mark.parametrize(("within", "gradients"), [(False, WEIGHTS), (True, WEIGHTS // 16)])
def test_gradients_are_let_go_where_their_optimizer_steps(within, gradients):
    held = estimated(SCRIPT.format(within=within)).memory.components
    assert held.optimizer_state == 2 * WEIGHTS
    assert gradients <= held.gradients <= gradients + 2 * WEIGHTS // 16
