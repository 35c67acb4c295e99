"""Correct code that looks wrong, where several ranks or a framework are involved: each once raised an alarm, in a program that somebody wrote."""

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

RULES = (
    "retained-graph", "missing-zero-grad", "double-softmax", "unsharded-loader", "stuck-in-eval", "evaluation-with-grad", "missing-set-epoch", "discarded-move",
    "bypassed-backward", "rank-conditional-collective", "unscaled-accumulation", "rank-divergent-branch",
)  # fmt: skip

PREPARED = """
import torch
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

def train(model, dataset):
    accelerator = Accelerator()
    loader = accelerator.prepare(DataLoader(dataset, batch_size=8, shuffle=True))
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""
PADDED_BATCH = """
import torch
from torch.utils.data import DataLoader
from transformers import AutoTokenizer

def train(model, rows, device):
    tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")

    def collate(examples):
        return tokenizer.pad(examples, padding="longest", return_tensors="pt")

    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(rows, collate_fn=collate):
        batch.to(device)
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""
SHARED_EPOCH = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

def epoch_of(net, optimizer, loader, epoch, train):
    if train:
        loader.sampler.set_epoch(epoch)
    for x, y in loader:
        with torch.set_grad_enabled(train):
            loss = torch.nn.functional.mse_loss(net(x), y)
        if train:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

def main(rows, held_out):
    dist.init_process_group("nccl")
    train_loader = DataLoader(rows, batch_size=8, sampler=DistributedSampler(rows))
    test_loader = DataLoader(held_out, batch_size=8, sampler=DistributedSampler(held_out))
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        epoch_of(net, optimizer, train_loader, epoch, train=True)
        epoch_of(net, optimizer, test_loader, epoch, train=False)

if __name__ == "__main__":
    main(torch.load("rows.pt"), torch.load("held_out.pt"))
"""
WITH_OR_WITHOUT_ENGINE = """
import argparse
import deepspeed
import torch

def main(args, model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, args=args)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        if args.deepspeed:
            model.backward(loss)
            model.step()
        else:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

parser = argparse.ArgumentParser()
parser.add_argument("--deepspeed", action="store_true")
main(parser.parse_args(), torch.nn.Linear(4, 1), torch.load("rows.pt"))
"""
WEIGHTS_OF_A_WHOLE_MODEL = """
import torch
from accelerate import Accelerator

class Trainer:
    def __init__(self, model, loader):
        self.accelerator = Accelerator(mixed_precision="fp16")
        self.optimizer = torch.optim.Adam(model.parameters())
        self.loader = loader
        self.model, self.optimizer = self.accelerator.prepare(model, self.optimizer)

    def save(self):
        if not self.accelerator.is_local_main_process:
            return
        torch.save(self.accelerator.get_state_dict(self.model), "model.pt")

    def train(self):
        for x, y in self.loader:
            self.accelerator.backward(torch.nn.functional.mse_loss(self.model(x), y))
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.accelerator.wait_for_everyone()
        self.save()

Trainer(torch.nn.Linear(4, 1), torch.load("rows.pt")).train()
"""
WINDOW_OF_ONE = """
import torch
from accelerate import Accelerator

def train(model, loader):
    accelerator = Accelerator(mixed_precision="fp16")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            accelerator.backward(torch.nn.functional.mse_loss(model(x), y))
            optimizer.step()
            optimizer.zero_grad()
"""
RANK_SPLIT = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

def run(rank, world_size, indices):
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
    mine = indices.split(1000 // world_size)[rank]
    loader = DataLoader(mine, batch_size=8, shuffle=True)
    net = DistributedDataParallel(torch.nn.Linear(4, 1).to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        for x in loader:
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
"""
BOTH_SIDES = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

def epoch_of(net, optimizer, loader, log):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
        if log is not None:
            log("step")

def main(rank, rows):
    dist.init_process_group("nccl", rank=rank, world_size=2)
    net = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        if rank == 0:
            epoch_of(net, optimizer, rows, print)
        else:
            epoch_of(net, optimizer, rows, None)
"""
BAR_ON_ONE_RANK = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

def main(loader, count, every):
    dist.init_process_group("nccl")
    net = DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    steps = range(count)
    if dist.get_rank() == 0:
        steps = tqdm(steps)
    for step in steps:
        if step > count:
            break
        optimizer.zero_grad()
        loss = net(next(loader)).mean()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            dist.reduce(loss, dst=0)
"""
ADAPTED_AGAIN = """
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

def score(model, rows):
    model.eval()
    with torch.no_grad():
        return [model(**row).loss.item() for row in rows]

def main(tasks):
    model = AutoModelForCausalLM.from_pretrained("base")
    for task in tasks:
        model = get_peft_model(model, LoraConfig())
        trainer = Trainer(model=model, args=TrainingArguments("out"), train_dataset=task)
        trainer.train()
        print(score(model, task))
        model = model.unload()
"""
OWN_CHECKPOINT = """
import os
import torch
import torch.distributed as dist

def latest(folder):
    files = [os.path.join(folder, each) for each in os.listdir(folder)]
    return max(files, key=os.path.getmtime).replace("rank0", f"rank{dist.get_rank()}") if files else None

def main(net, rows, folder):
    dist.init_process_group("nccl")
    total = torch.zeros(())
    for name in (latest(folder), os.path.join(folder, f"rank{dist.get_rank()}"), f"rank{dist.get_rank()}"):
        if name:
            dist.all_reduce(total)
    net = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in rows:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""
GRADIENTS_AS_IMPORTANCE = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

def main(net, rows):
    dist.init_process_group("nccl")
    net = DistributedDataParallel(net)
    weights = torch.ones(12, requires_grad=True)
    for x, y in DataLoader(rows, batch_size=8, shuffle=True):
        torch.nn.functional.mse_loss(net(x, weights), y).backward()
    print(weights.grad.abs())
"""
PROGRAMS = {name.lower(): code for name, code in list(globals().items()) if name.isupper() and isinstance(code, str)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_alarm(name):
    rules = [rule for rule in discover() if rule.name in RULES]
    report = analyse(Snapshot.of({"train.py": PROGRAMS[name].encode()}), rules)
    assert not report.problems
    assert [(finding.rule, finding.message) for finding in report.findings] == []


NORM = """
import torch
import torch.distributed as dist

def mean(losses):
    kept = [each for each in losses if each.item() > 0]
    if not kept:
        {empty}
        return total.item()
    total = torch.stack(kept).sum()
    dist.all_reduce(total)
    return total.item()

def main(net, data):
    dist.init_process_group("nccl")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(data, sampler=torch.utils.data.DistributedSampler(data))
    for x in loader:
        optimizer.zero_grad()
        loss = net(x).mean()
        loss.backward()
        print(mean([loss.detach(), x.mean()]))
        optimizer.step()
"""


@pytest.mark.parametrize(("empty", "found"), [("total = torch.zeros(())", True), ("total = torch.zeros(())\n        dist.all_reduce(total)", False)])
def test_ranks_that_leave_early_may_take_part_before(empty, found):
    rules = [rule for rule in discover() if rule.name == "rank-divergent-branch"]
    report = analyse(Snapshot.of({"train.py": NORM.format(empty=empty).encode()}), rules)
    assert bool(report.findings) is found
