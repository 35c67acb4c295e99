"""What only one rank reaches, through a helper and after an early return."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def is_main():
    return not dist.is_initialized() or dist.get_rank() == 0


def report(model, path):
    if not is_main():
        return
    torch.save(model.state_dict(), path)


def main(model, dataset):
    if "RANK" in os.environ:
        dist.init_process_group("nccl")
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x in loader:
            optimizer.zero_grad()
            loss = model(x).mean()
            loss.backward()
            optimizer.step()
            if is_main():
                print(loss.item())
        report(model, "last.pt")
        dist.barrier()
