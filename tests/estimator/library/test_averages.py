"""Averages of a model's parameters take memory of their own, whichever library keeps them."""

from __future__ import annotations

import pytest

from tests.estimator.script.running import estimated

SCRIPT = """
import torch
from torch import nn
{brought}

model = nn.Linear(2048, 2048).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
average = {made}
for _ in range(4):
    model(torch.randn(4, 2048, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    {moved}
"""
WEIGHT = 2048 * 2048 * 4


@pytest.mark.parametrize(
    ("brought", "made", "moved"),
    [
        ("from torch.optim.swa_utils import AveragedModel", "AveragedModel(model, use_buffers=True)", "average.update_parameters(model)"),
        ("from timm.utils import ModelEmaV3", "ModelEmaV3(model, decay=0.9)", "average.update(model)"),
        ("from diffusers.training_utils import EMAModel", "EMAModel(model.parameters(), decay=0.9)", "average.step(model.parameters())"),
    ],
    ids=["torch", "timm", "diffusers"],
)  # fmt: skip
def test_an_average_is_a_copy_of_the_parameters(brought, made, moved):
    with_average = estimated(SCRIPT.format(brought=brought, made=made, moved=moved))
    alone = estimated(SCRIPT.format(brought="", made="None", moved="pass"))
    assert with_average.unknowns == ()
    assert WEIGHT <= with_average.memory.allocated_bytes - alone.memory.allocated_bytes <= 2.1 * WEIGHT
