"""A model inside a wrapper is walked as often as one that stands alone."""

from analysis.index import index
from analysis.library.entries import Entry
from analysis.library.running import run
from analysis.snapshot import Snapshot

TRAIN = """
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(20)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x)) + x
        return x

net = WRAPPED(Net())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(data):
    opt.zero_grad()
    net(x).sum().backward()
    opt.step()
"""


def _steps(wrapper: str) -> int:
    snapshot = Snapshot.of({"train.py": TRAIN.replace("WRAPPED", wrapper).encode()})
    ended = run(snapshot, index(snapshot), Entry("train.py"))
    assert ended is not None
    assert ended.complete
    return ended.steps


def test_a_wrapped_model_takes_few_steps_more():
    assert _steps("DDP") < 1.1 * _steps("")
