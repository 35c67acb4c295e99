"""Remote procedure calls: what other processes are asked to run is counted here, and said."""

from __future__ import annotations

from analysis.certainty import Assumed
from tests.estimator.script.running import estimated

SCRIPT = """
import torch
import torch.distributed.autograd as dist_autograd
import torch.distributed.rpc as rpc
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.optim import DistributedOptimizer
from torchvision.models.resnet import Bottleneck

class Part(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = Bottleneck(width, width // 4).cuda()

    def forward(self, x_rref):
        return self.block(x_rref.to_here().cuda()).cpu()

    def parameter_rrefs(self):
        return [rpc.RRef(p) for p in self.parameters()]

def train():
    part = rpc.remote("worker", Part, args=(256,))
    optimizer = DistributedOptimizer(torch.optim.SGD, part.rpc_sync().parameter_rrefs(), lr=0.1)
    for _ in range(10):
        with dist_autograd.context() as context:
            futures = [part.rpc_async().forward(rpc.RRef(torch.zeros(4, 256, 14, 14))) for _ in range(2)]
            loss = torch.cat(torch.futures.wait_all(futures)).sum()
            dist_autograd.backward(context, [loss])
            optimizer.step(context)

def run(rank, world_size):
    rpc.init_rpc(f"worker{rank}", rank=rank, world_size=world_size)
    if rank == 1:
        train()
    rpc.shutdown()

if __name__ == "__main__":
    mp.spawn(run, args=(2,), nprocs=2)
"""


def test_the_process_that_asks_is_played():
    found = estimated(SCRIPT)
    assert found.memory.parameters == 256 * 64 + 64 * 64 * 9 + 64 * 256 + 2 * (64 + 64 + 256)
    assert isinstance(found.config.sharding, Assumed)
    assert found.config.sharding.at_most
