"""ResNets of clips, by name and in a script."""

from __future__ import annotations

import pytest

from analysis.certainty import Assumed
from analysis.snapshot import Snapshot
from estimator.estimate import Mode
from estimator.request import Request
from estimator.run import estimate
from tests.estimator.script.running import estimated

SCRIPT = """
import torch
from torchvision.models.video import R2Plus1D_18_Weights, {name}

model = {name}(num_classes=7).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    model(torch.zeros(2, 3, 8, 64, 64).cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(("name", "parameters"), [("r3d_18", 33371472), ("mc3_18", 11695440), ("r2plus1d_18", 31505325)])
def test_a_script_trains_one(name: str, parameters: int):
    found = estimated(SCRIPT.format(name=name))
    assert found.memory.parameters == parameters - 393 * 513
    assert (found.config.model.value, found.config.batch_size.value, found.config.image_size.value) == (name, 2, 64)


def test_a_named_one_is_fed_sixteen_pictures():
    [found] = estimate(Snapshot.of({}), Request(model="r3d_18", inference=True))
    assert found.mode is Mode.INFERENCE
    assert isinstance(found.config.image_size, Assumed)
    assert found.config.image_size.value == 112
