"""Mistakes with checkpoints, samplers, streams and metrics in the forms in which people write them: each was once passed over, its twin is right."""

from __future__ import annotations

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

FILTERED_SAVE = """
import torch
import torch.distributed as dist

def save(net, path):
    {guard}torch.save({{k: v.cpu() for k, v in net.state_dict().items() if "adapter" in k}}, path)

def train(net, loader):
    dist.init_process_group("nccl")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
    save(net, "adapter.pt")
"""
METRIC = """
import torch
import torch.distributed as dist
import torchmetrics

def train(net, loader):
    dist.init_process_group("nccl")
    metric = torchmetrics.MeanSquaredError({options})
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
        metric.update(net(x).detach(), y)
    {compute}
"""
SAMPLER = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

def main(net, dataset, epochs=3):
    dist.init_process_group("nccl")
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    net = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    {once}
    for epoch in range(epochs):
        {each}
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()
"""
SEEDED_STREAM = """
import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset

class Windows(IterableDataset):
    def __init__(self, tokens):
        self.tokens = tokens

    def __iter__(self):
        rng = np.random.default_rng({seed})
        while True:
            at = rng.integers(0, 1000)
            yield torch.tensor(self.tokens[at : at + 8])

def train(net, tokens):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in DataLoader(Windows(tokens), batch_size=8, num_workers={workers}):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""


def found(program: str, *rules: str) -> dict[str, int]:
    """The rules that speak, and the line that each names."""
    snapshot = Snapshot.of({"train.py": program.encode()})
    report = analyse(snapshot, [rule for rule in discover() if rule.name in rules])
    return {finding.rule: snapshot.contents["train.py"][: finding.span.start].count(b"\n") + 1 for finding in report.findings}


def test_a_part_of_a_model_is_a_checkpoint_too():
    assert found(FILTERED_SAVE.format(guard=""), "every-rank-checkpoint")
    assert not found(FILTERED_SAVE.format(guard="if dist.get_rank() == 0:\n        "), "every-rank-checkpoint")


def test_torchmetrics_gather_when_they_compute():
    alone = "if dist.get_rank() == 0:\n        print(metric.compute())"
    assert found(METRIC.format(options="", compute=alone), "rank-conditional-collective")
    assert not found(METRIC.format(options="sync_on_compute=False", compute=alone), "rank-conditional-collective")
    everywhere = "value = metric.compute()\n    if dist.get_rank() == 0:\n        print(value)"
    assert not found(METRIC.format(options="", compute=everywhere), "rank-conditional-collective")


def test_one_epoch_is_not_told_for_all_of_them():
    assert found(SAMPLER.format(once="sampler.set_epoch(1)", each="pass"), "missing-set-epoch")
    assert not found(SAMPLER.format(once="sampler.set_epoch(1)", each="sampler.set_epoch(epoch)"), "missing-set-epoch")


def test_a_stream_that_begins_with_one_seed_is_the_same_in_each_worker():
    assert found(SEEDED_STREAM.format(seed="1337", workers=4), "worker-rng-copies")
    assert not found(SEEDED_STREAM.format(seed="torch.initial_seed() % 2**32", workers=4), "worker-rng-copies")
    assert not found(SEEDED_STREAM.format(seed="1337", workers=0), "worker-rng-copies")


STREAMED = """
import torch
import torch.distributed as dist
from datasets import load_dataset
from datasets.distributed import split_dataset_by_node
from torch.utils.data import DataLoader

def main(net):
    dist.init_process_group("nccl")
    rows = load_dataset("c4", split="train", streaming={streaming}).shuffle(seed=1).with_format("torch")
    {divided}
    net = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in DataLoader(rows, batch_size=8, num_workers=2):
        optimizer.zero_grad()
        net(batch["x"]).mean().backward()
        optimizer.step()
"""
ADAPTED = """
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

def main(loader):
    model = AutoModelForCausalLM.from_pretrained("x")
    {before}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    {after}
    model.train()
    for batch in loader:
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_ranks_share_a_stream_only_if_it_is_split():
    assert found(STREAMED.format(streaming=True, divided=""), "duplicated-iterable")
    split = "rows = split_dataset_by_node(rows, rank=dist.get_rank(), world_size=dist.get_world_size())"
    assert not found(STREAMED.format(streaming=True, divided=split), "duplicated-iterable")
    assert not found(STREAMED.format(streaming=True, divided="rows = rows.shard(2, dist.get_rank())"), "duplicated-iterable")


def test_adapters_come_before_the_optimizer():
    adapters = "model = get_peft_model(model, LoraConfig())"
    assert found(ADAPTED.format(before="", after=adapters), "stale-optimizer-parameters")
    assert not found(ADAPTED.format(before=adapters, after=""), "stale-optimizer-parameters", "unoptimized-parameters", "frozen-by-mistake")


TURNS = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, IterableDataset

class Records(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        rank, world = dist.get_rank(), dist.get_world_size()
        for i, row in enumerate(self.rows):
            if i % world == rank:
                yield torch.tensor(row)

def main(net, rows):
    dist.init_process_group("nccl")
    net = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        for step, x in enumerate(DataLoader(Records(rows), batch_size=8)):
            {end}
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
"""


def test_streams_in_which_ranks_take_turns_end_unevenly():
    assert found(TURNS.format(end="pass"), "uneven-ranks")
    assert not found(TURNS.format(end="if step == 100:\n                break"), "uneven-ranks")


PATIENCE = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

def mean_loss(net, loader, optimizer):
    total = 0.0
    for x in loader:
        optimizer.zero_grad()
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
    {agree}
    return total

def train(dataset):
    dist.init_process_group("nccl")
    loader = DataLoader(dataset, batch_size=8, sampler=DistributedSampler(dataset))
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    go_on, best, waited = True, 1e9, 0
    while go_on:
        total = mean_loss(net, loader, optimizer)
        waited = 0 if total < best else waited + 1
        go_on = waited < 5
"""
CLOSURE = """
import lightning as L
import torch

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)

    def training_step(self, batch, i):
        return self.net(batch).mean()

    def optimizer_step(self, epoch, i, optimizer, optimizer_closure):
        optimizer.step({passed})

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

L.Trainer(max_epochs=3).fit(Net(), torch.load("batches.pt"))
"""
SHARES = """
import glob
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

class Tiles(Dataset):
    def __init__(self):
        files = sorted(glob.glob("*.pt"))
        {even}
        self.files = files[dist.get_rank() :: dist.get_world_size()]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return torch.load(self.files[i])

def main(net):
    dist.init_process_group("nccl")
    net = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        for x in DataLoader(Tiles(), batch_size=1, shuffle=True):
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
"""


def test_ranks_leave_a_while_loop_by_their_own_losses():
    assert found(PATIENCE.format(agree="pass"), "rank-divergent-branch")
    agree = "total = torch.tensor(total); dist.all_reduce(total); total = total.item()"
    assert not found(PATIENCE.format(agree=agree), "rank-divergent-branch")


def test_the_closure_that_a_framework_hands_over_is_called():
    assert found(CLOSURE.format(passed=""), "step-without-backward")
    assert not found(CLOSURE.format(passed="closure=optimizer_closure"), "step-without-backward")


def test_shares_of_files_are_even():
    assert found(SHARES.format(even="pass"), "uneven-ranks")
    assert not found(SHARES.format(even="files = files[: len(files) // dist.get_world_size() * dist.get_world_size()]"), "uneven-ranks")
