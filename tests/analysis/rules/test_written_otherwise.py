"""Mistakes in forms that were passed over once, each beside its right twin."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

COUNTED_UP = """
import torch

class Runner:
    def __init__(self, model, cfg):
        self.model, self.cfg = model, cfg
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run(self, loader):
        pending = 0
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(self.model(x), y){kept}
            loss.backward()  # here
            pending += 1
            if pending == self.cfg.update_every:
                self.optimizer.step()
                self.optimizer.zero_grad()
                pending = 0
        if pending:
            self.optimizer.step()
            self.optimizer.zero_grad()
"""
IGNITE = """
import torch
from ignite.engine import create_supervised_trainer

def run(loader):
    net = torch.nn.Sequential(
        torch.nn.Linear(4, 3),
        torch.nn.{kept}(),  # here
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    create_supervised_trainer(net, optimizer, torch.nn.CrossEntropyLoss()).run(loader, max_epochs=2)
"""
FASTAI = """
from fastai.vision.all import BCEWithLogitsLossFlat, Learner
from torch import nn

class Net(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.head = nn.Sequential(nn.Linear(8, 3), nn.{kept}())  # here

    def forward(self, x):
        return self.head(self.body(x))

def main(loaders, body):
    Learner(loaders, Net(body), loss_func=BCEWithLogitsLossFlat()).fit_one_cycle(3, 1e-3)
"""
STARVED = """
import torch

class Agent:
    def __init__(self, encoder, net):
        self.encoder, self.net = encoder, net
        self.first = torch.optim.Adam(encoder.parameters())
        self.second = torch.optim.Adam(net.parameters())

    def encode(self, x):
        return self.encoder(x / 255)

    def update(self, x, y):
        with torch.{kept}():
            z = self.encode(x)  # here
        loss = torch.nn.functional.mse_loss(self.net(z), y)
        self.first.zero_grad()
        self.second.zero_grad()
        loss.backward()
        self.first.step()
        self.second.step()

def train(agent, loader):
    for x, y in loader:
        agent.update(x, y)
"""
TERM = """
import torch
from torch import nn

class Voice(nn.Module):
    def __init__(self, spectrogram):
        super().__init__()
        self.spectrogram, self.rnn = spectrogram, nn.GRU(80, 8)

    def forward(self, wave):
        with torch.{kept}():
            mel = self.spectrogram(wave)  # here
        return self.rnn(mel)[0]

def train(tts, spectrogram, loader):
    voice = Voice(spectrogram).eval().requires_grad_(False)
    optimizer = torch.optim.Adam(tts.parameters())
    for text, wave in loader:
        fake = tts(text)
        alike = nn.functional.cosine_similarity(voice(wave), voice(fake)).mean()
        optimizer.zero_grad()
        (nn.functional.l1_loss(fake, wave) - alike).backward()
        optimizer.step()
"""
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
REPLACED = """
import torch
from torch import nn

def fix(module):
    for name, child in module.named_children():
        if isinstance(child, nn.BatchNorm2d):
            setattr(module, name, {kept})
    return module

def main(loader):
    net = nn.Sequential(nn.Conv2d(3, 32, 3), nn.BatchNorm2d(32), nn.Flatten(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net = fix(net)  # here
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
"""


def _lines(rule: str, program: str) -> list[int]:
    rules = [each for each in discover() if each.name == rule]
    snapshot = Snapshot.of({"train.py": program.encode()})
    return [program.encode()[: finding.span.start].count(b"\n") + 1 for finding in analyse(snapshot, rules).findings]


@pytest.mark.parametrize(
    ("rule", "program", "wrong", "right"),
    [
        ("unscaled-accumulation", COUNTED_UP, "", " / self.cfg.update_every"),
        ("double-softmax", IGNITE, "Softmax", "Identity"),
        ("bce-activation", FASTAI, "Sigmoid", "Identity"),
        ("detached-loss", STARVED, "no_grad", "enable_grad"),
        ("detached-loss", TERM, "no_grad", "enable_grad"),
        ("ddp-forward-bypass", PASSED_BY, "ddp.module", "ddp"),
        ("every-rank-checkpoint", BROADCAST, "", " and dist.get_rank() == 0"),
        ("sampler-seed-differs", OWN_ORDER, "seed()", "manual_seed(0)"),
        ("worker-rng-copies", NOISE, "self.seed", "self.seed + info.id"),
        ("stale-optimizer-parameters", REPLACED, "nn.GroupNorm(8, 32)", "child"),
    ],
)
def test_each_form_is_found_and_its_right_twin_is_not(rule: str, program: str, wrong: str, right: str) -> None:
    place = next(number for number, line in enumerate(program.splitlines(), 1) if line.endswith("# here"))
    assert _lines(rule, program.replace("{kept}", wrong)) == [place]
    assert _lines(rule, program.replace("{kept}", right)) == []


def test_an_evaluation_of_what_a_wrapper_holds_is_in_evaluation_mode() -> None:
    assert _lines("evaluation-in-train-mode", BROADCAST.replace("{kept}", "")) == []


def test_what_a_framework_reads_itself_is_no_wait_of_the_program() -> None:
    assert _lines("sync-in-hot-loop", IGNITE.replace("{kept}", "Identity")) == []
