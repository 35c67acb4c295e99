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


SERVED = """
import torch
import torch.distributed.rpc as rpc
import torch.multiprocessing as mp
from torch import nn

class Server:
    def __init__(self, askers):
        self.model = nn.Linear(8, 4)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.later = torch.futures.Future()
        self.asked = 0
        self.askers = askers

    @staticmethod
    @rpc.functions.async_execution
    def update(server, gradients):
        server.asked += 1
        answer = server.later
        if server.asked == server.askers:
            for parameter, gradient in zip(server.model.parameters(), gradients):
                parameter.grad = gradient
            server.optimizer.step()
            server.asked = 0
            answer.set_result(server.model)
            server.later = torch.futures.Future()
        return answer

def run(rank, world_size):
    rpc.init_rpc(f"worker{rank}", rank=rank, world_size=world_size)
    if rank == 0:
        server = Server(world_size - 1)
        model = server.model.cuda()
        for _ in range(4):
            model(torch.zeros(16, 8).cuda()).sum().backward()
            model = rpc.rpc_sync("server", Server.update, args=(server, [p.grad for p in model.parameters()])).cuda()

if __name__ == "__main__":
    mp.spawn(run, args=(4,), nprocs=4)
"""


def test_what_waits_for_the_others_is_answered_once_they_have_asked_the_same():
    found = estimated(SERVED)
    assert found.memory.parameters == 8 * 4 + 4
    assert found.config.batch_size.value == 16
