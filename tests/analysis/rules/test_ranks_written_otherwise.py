"""Mistakes of several ranks and workers in forms that were passed over once, each beside its right twin."""

from __future__ import annotations

import pytest

from tests.analysis.rules.twins import assert_told_apart, lines_of

PASSED_BY = """
import torch
import torch.distributed as dist

def train(ddp, loader, sampler):
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(10):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss({kept}(x), y).backward()  # here
            optimizer.step()
        dist.barrier()
"""
BROADCAST = """
import torch
import torch.distributed as dist

def evaluate(model, data):
    model.eval()
    with torch.no_grad():
        error = torch.stack([(model(x) - y).abs().mean() for x, y in data]).mean()
    model.train()
    return error.item()

def train(ddp, loader, data):
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            (ddp(x) - y).square().mean().backward()
            optimizer.step()
        path = [None]
        if dist.get_rank() == 0 and evaluate(ddp.module, data) < 1:
            path[0] = "best.pt"
        dist.broadcast_object_list(path, src=0)
        if path[0] is not None{kept}:
            torch.save(ddp.module.state_dict(), path[0])  # here
"""
OWN_ORDER = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Sampler

class Shares(Sampler):
    def __init__(self, data, rank, world):
        self.data, self.rank, self.world = data, rank, world

    def __iter__(self):
        g = torch.Generator()
        g.{kept}
        order = torch.randperm(len(self.data), generator=g).tolist()  # here
        return iter(order[self.rank :: self.world])

def main(net, data):
    dist.init_process_group("nccl")
    loader = DataLoader(data, 8, sampler=Shares(data, dist.get_rank(), dist.get_world_size()))
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        (ddp(x) - y).abs().mean().backward()
        optimizer.step()
"""
NOISE = """
import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

class Clips(IterableDataset):
    def __init__(self, shards, seed=0):
        self.shards, self.seed = shards, seed

    def __iter__(self):
        info = get_worker_info()
        rng = np.random.default_rng({kept})  # here
        for shard in rng.permutation(self.shards)[info.id :: info.num_workers]:
            clip = np.load(shard)
            yield torch.from_numpy(clip + rng.normal(size=clip.shape))

def train(net, shards):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in DataLoader(Clips(shards), batch_size=4, num_workers=8):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""
RANKS_ALONE = """
import itertools
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, IterableDataset

class Stream(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        yield from itertools.islice(self.rows, dist.get_rank(), None, dist.get_world_size())  # here

def main(net, rows):
    dist.init_process_group("nccl")
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for _, x in zip(range(1000), DataLoader(Stream(rows), batch_size=8, num_workers={kept})):
        optimizer.zero_grad()
        ddp(x).mean().backward()
        optimizer.step()
"""
CUT_UP = """
import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Subset

def main(net, data):
    dist.init_process_group("nccl")
    order = np.random.default_rng(0).permutation(len(data))
    {kept}
    mine = np.array_split(order, dist.get_world_size())[dist.get_rank()]
    loader = DataLoader(Subset(data, mine.tolist()), 8)  # here
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        ddp(x).mean().backward()
        optimizer.step()
"""
OWN_PART = """
import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint

class Net(L.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def training_step(self, batch, index):
        return self.net(batch).mean()

    def validation_step(self, batch, index):
        self.log("score", self.net(batch).abs().mean(){kept})  # here

    def configure_optimizers(self):
        return torch.optim.SGD(self.net.parameters(), lr=0.1)

def main(data):
    callbacks = [ModelCheckpoint(monitor="score")]
    L.Trainer(max_epochs=3, devices=4, strategy="ddp", callbacks=callbacks).fit(Net(torch.nn.Linear(4, 1)), datamodule=data)
"""
LEAVING = """
import torch
import torch.distributed as dist

def fit(ddp, loader, stop):
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            (ddp(x) - y).square().mean().backward()
            optimizer.step()
        done = torch.zeros(1)
        if dist.get_rank() == 0 and stop(ddp.module):
            done += 1
            {kept}  # here
        dist.broadcast(done, 0)
        if done.item():
            break
"""
LATE = """
import deepspeed

def main(model, data, config):
    engine, _, loader, _ = deepspeed.initialize(model=model, training_data=data, config=config)
    for step, x in enumerate(loader):
        engine.backward(engine(x).loss)
        engine.step()
        if step % 500 == 499 and {kept}:
            engine.save_checkpoint("saved")  # here
"""
AUDIO = """
import torch
import torchaudio
from torch.utils.data import DataLoader, Dataset

class Clips(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torchaudio.load(self.paths[index])[0]

def train(net, paths):
    net.cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in DataLoader(Clips(paths), batch_size=8, shuffle=True, num_workers={kept}):  # here
        optimizer.zero_grad()
        net(x.cuda()).mean().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("rule", "program", "wrong", "right"),
    [
        ("ddp-forward-bypass", PASSED_BY, "ddp.module", "ddp"),
        ("every-rank-checkpoint", BROADCAST, "", " and dist.get_rank() == 0"),
        ("sampler-seed-differs", OWN_ORDER, "seed()", "manual_seed(0)"),
        ("worker-rng-copies", NOISE, "self.seed", "self.seed + info.id"),
        ("duplicated-iterable", RANKS_ALONE, "2", "0"),
        ("uneven-ranks", CUT_UP, "pass", "order = order[: len(order) // dist.get_world_size() * dist.get_world_size()]"),
        ("rank-conditional-collective", LEAVING, "break", "pass"),
        ("guarded-sharded-save", LATE, "engine.local_rank == 0", "True"),
        ("stalled-loader", AUDIO, "0", "4"),
        ("local-metric", OWN_PART, "", ", sync_dist=True"),
    ],
)
def test_each_form_is_found_and_its_right_twin_is_not(rule: str, program: str, wrong: str, right: str) -> None:
    assert_told_apart(rule, program, wrong, right)


def test_an_evaluation_of_what_a_wrapper_holds_is_in_evaluation_mode() -> None:
    assert lines_of("evaluation-in-train-mode", BROADCAST.replace("{kept}", "")) == []
