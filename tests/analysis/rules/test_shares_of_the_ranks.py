"""Shares of the data that a program deals out to the ranks by itself, and what it gathers and counts of them."""

from __future__ import annotations

import pytest

from tests.analysis.rules.twins import assert_told_apart, lines_of

TRAINING = """
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(3):
        for x in loader:
            optimizer.zero_grad()
            ddp(x).square().mean().backward()
            optimizer.step()
"""
LISTED = (
    """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Subset

def train(net, data):
    dist.init_process_group("nccl")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    length = {kept}
    part = Subset(data, list(range(rank, length, ranks)))  # here
    loader = DataLoader(part, batch_size=4, shuffle=True)
"""
    + TRAINING
)
STREAM = (
    """
import itertools
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

class Lines(IterableDataset):
    def __init__(self, path, tokenizer):
        self.path, self.tokenizer = path, tokenizer

    def __iter__(self):
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        rank = dist.get_rank() if dist.is_initialized() else 0
        place = rank * workers + worker
        with open(self.path) as lines:
            for line in itertools.islice(lines, place, {kept}, dist.get_world_size() * workers):  # here
                yield self.tokenizer(line, padding="max_length", truncation=True)

def train(net, tokenizer):
    dist.init_process_group("nccl")
    loader = DataLoader(Lines("a.txt", tokenizer), batch_size=4, num_workers=2)
"""
    + TRAINING
)
DRAWN = (
    """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Subset

def train(net, data):
    dist.init_process_group("nccl")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(3)){kept}
    part = Subset(data, order[rank::ranks].tolist())  # here
    loader = DataLoader(part, batch_size=4)
"""
    + TRAINING
)
ORDER = (
    """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Sampler

class Shares(Sampler):
    def __init__(self, length, rank, ranks):
        self.length, self.rank, self.share = length, rank, length // ranks

    def __iter__(self):
        drawn = torch.Generator()
        drawn.manual_seed({kept})
        order = torch.randperm(self.length, generator=drawn).tolist()  # here
        begin = self.rank * self.share
        return iter(order[begin : begin + self.share])

def train(net, data):
    dist.init_process_group("nccl")
    loader = DataLoader(data, batch_size=4, sampler=Shares(len(data), dist.get_rank(), dist.get_world_size()))
"""
    + TRAINING
)
BOXES = """
import torch
import torch.distributed as dist
from torchvision.ops import nms

@torch.no_grad()
def evaluate(detector, loader):
    dist.init_process_group("nccl")
    detector.eval()
    for x in loader:
        boxes, scores = detector(x)
        kept = {kept}
        found = torch.cat([boxes[kept], scores[kept, None]], dim=1)
        parts = [torch.empty_like(found) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, found)  # here
"""
COUNTED = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

@torch.no_grad()
def accuracy(net, loader):
    right = seen = 0
    for x, y in loader:
        guess = net(x).argmax(1)
        right += (guess == y).sum().item()
        seen += len(y)

    return 100.0 * right / seen  # here

def train(net, loader, data):
    dist.init_process_group("nccl")
    held_out = DataLoader(data, batch_size=4, sampler=DistributedSampler(data, shuffle=False))
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    best = 0
    for epoch in range(9):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(ddp(x), y).backward()
            optimizer.step()
        found = {kept}
        if dist.get_rank() == 0 and found > best:
            best = found
            torch.save(net.state_dict(), "best.pt")
"""
SHARED = """
import lightning as L
import torch
import torch.nn.functional as F

class Pairs(L.LightningModule):
    def __init__(self, sounds, words):
        super().__init__()
        self.sounds, self.words = sounds, words
        self.scale = torch.nn.Parameter(torch.tensor(2.6))

    def training_step(self, batch, index):
        sound, word = F.normalize(self.sounds(batch[0]), dim=-1), F.normalize(self.words(batch[1]), dim=-1)
        both = self.all_gather(torch.stack([sound, word]){kept})  # here
        scores = self.scale.exp() * both[:, 0].flatten(0, 1) @ both[:, 1].flatten(0, 1).t()
        return F.cross_entropy(scores, torch.arange(len(scores), device=self.device))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())

def main(sounds, words, data):
    L.Trainer(devices=8, strategy="ddp").fit(Pairs(sounds, words), data)
"""


@pytest.mark.parametrize(
    ("rule", "program", "wrong", "right"),
    [
        ("uneven-ranks", LISTED, "len(data)", "len(data) // ranks * ranks"),
        ("uneven-ranks", DRAWN, "", "[: len(data) // ranks * ranks]"),
        ("uneven-ranks", STREAM, "None", "8000"),
        ("sampler-seed-differs", ORDER, "7 + self.rank", "7 + self.length"),
        ("uneven-gather", BOXES, "nms(boxes, scores, 0.5)", "scores.topk(100).indices"),
        ("local-metric", COUNTED, "accuracy(ddp, held_out)", "epoch"),
        ("local-metric", COUNTED, "float(round(accuracy(ddp, held_out), 2))", "epoch"),
        ("gather-without-grad", SHARED, "", ", sync_grads=True"),
    ],
)
def test_a_share_is_told_from_what_is_the_same_for_all(rule: str, program: str, wrong: str, right: str) -> None:
    assert_told_apart(rule, program, wrong, right)


def test_a_list_of_every_nth_sample_from_the_rank_on_divides_the_data() -> None:
    assert lines_of("unsharded-loader", LISTED.replace("{kept}", "len(data)")) == []
    assert lines_of("unsharded-loader", DRAWN.replace("{kept}", "")) == []
    assert lines_of("unsharded-loader", LISTED.replace("{kept}", "len(data)").replace("range(rank,", "range(0,")) == [11]
