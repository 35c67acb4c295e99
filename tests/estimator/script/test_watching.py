"""Models that no call shows: what has gradients when an optimizer steps is what trains."""

from __future__ import annotations

from tests.estimator.script.running import estimated

SCRIPT = """
import torch
from torch import nn
{above}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Parameter(torch.zeros(64, 256)), nn.Parameter(torch.zeros(256, 10))

    def forward(self, x):
        return torch.relu(x @ self.inner) @ self.outer

model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    loss = {loss}
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_a_forward_that_is_called_by_its_name_trains_all_the_same():
    called = estimated(SCRIPT.format(above="", loss="model(torch.zeros(8, 64, device='cuda')).sum()"))
    named = estimated(SCRIPT.format(above="", loss="model.forward(torch.zeros(8, 64, device='cuda')).sum()"))
    assert named.memory.allocated_bytes == called.memory.allocated_bytes
    assert named.memory.parameters == 64 * 256 + 256 * 10
    assert any("which batch it is given is not shown" in sentence for sentence in named.unknowns)


def test_a_step_without_gradients_shows_no_model():
    found = estimated(SCRIPT.format(above="from engines import wrap", loss="wrap(model)(torch.zeros(8, 64, device='cuda')).sum()"))
    assert found.memory is None


def test_a_batch_in_one_dict_is_seen():
    script = SCRIPT.format(above="", loss="model({'pixels': torch.zeros(8, 3, 32, 32, device='cuda'), 'label': 0}).sum()")
    found = estimated(script.replace("torch.relu(x @ self.inner)", "torch.relu(x['pixels'].flatten(1)[:, :64] @ self.inner)"))
    assert found.config.batch_size.value == 8
    assert found.config.image_size.value == 32
