"""What a framework does by itself, and what a program passes over in it: each program was once misread, its twin is the other way round."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

FABRIC = """
import torch
from lightning.fabric import Fabric

def train(net, loader):
    fabric = Fabric(precision="16-mixed")
    net, optimizer = fabric.setup(net, torch.optim.SGD(net.parameters(), lr=0.1))
    for x in fabric.setup_dataloaders(loader):
        optimizer.zero_grad()
        fabric.backward(net(x).mean())
        {kept}  # here
        optimizer.step()
"""
LIGHTNING = """
import lightning as L
import torch

class History(L.Callback):
    def __init__(self):
        self.losses = []

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.losses.append({kept})  # here

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer, self.last = torch.nn.Linear(4, 1), None

    def training_step(self, batch, batch_idx):
        self.last = self.layer(batch).mean()
        return self.last

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

L.Trainer(max_epochs=3, callbacks=[History()]).fit(Net(), torch.utils.data.DataLoader([torch.zeros(4)]))
"""
TIMM = """
import torch
from timm.scheduler import CosineLRScheduler
from timm.utils import NativeScaler

def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = CosineLRScheduler(optimizer, t_initial=1000)
    scaler = NativeScaler()
    for step, x in enumerate(loader):
        loss = net(x).mean()
        {kept}
        scaler(loss, optimizer, parameters=net.parameters())  # here
        schedule.step_update(num_updates=step)

train(torch.nn.Linear(4, 1), torch.utils.data.DataLoader([torch.zeros(4)]))
"""
IGNITE = """
import torch
from ignite.engine import Engine, Events
from ignite.metrics import Accuracy

net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(), torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

def update(engine, batch):
    net.train()
    x, y = batch
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()

@torch.no_grad()
def infer(engine, batch):
    {kept}
    x, y = batch
    return net(x), y  # here

trainer, evaluator = Engine(update), Engine(infer)
Accuracy().attach(evaluator, "accuracy")

@trainer.on(Events.EPOCH_COMPLETED)
def evaluate(engine):
    evaluator.run(torch.utils.data.DataLoader(held_out))

trainer.run(torch.utils.data.DataLoader(data, shuffle=True), max_epochs=9)
"""
HOOKS = """
import torch

class Updates:
    def __init__(self, runner, every):
        self.runner, self.every = runner, every

    def before(self):
        {kept}  # here

    def after(self):
        (self.runner.loss / self.every).backward()
        if (self.runner.step + 1) % self.every == 0:
            self.runner.optimizer.step()
            self.runner.optimizer.zero_grad()

class Runner:
    def __init__(self, net):
        self.net, self.step, self.loss = net, 0, None
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.hooks = [Updates(self, 4)]

    def run(self, loader):
        for self.step, x in enumerate(loader):
            for hook in self.hooks:
                hook.before()
            self.loss = self.net(x).mean()
            for hook in self.hooks:
                hook.after()

Runner(torch.nn.Linear(4, 1)).run(torch.utils.data.DataLoader([torch.zeros(4)] * 64))
"""
HEAD = """
import torch
from torchvision.models import mobilenet_v3_large

def train(loader):
    net = mobilenet_v3_large(weights="DEFAULT")
    optimizer = {kept}
    net.classifier[3] = torch.nn.Linear(1280, 9)  # here
    if optimizer is None:
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
"""
STREAM = """
import torch

class Lines(torch.utils.data.IterableDataset):
    \"\"\"The lines of all shards, one after another.\"\"\"

    def __init__(self, files):
        self.files = files

    def __iter__(self):
        for name in self.files{kept}:  # here
            with open(name) as lines:
                yield from lines

def train(net, files):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(Lines(files), num_workers=4):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""
SHARED = """
import itertools
import torch
from torch import nn

class Side(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.words, self.layer = words, nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(self.words(x))

def train(loader):
    words = nn.Embedding(100, 8)
    one, other = Side(words), Side({kept})
    optimizer = torch.optim.Adam(itertools.chain(one.parameters(), other.parameters()))  # here
    for x, y in loader:
        optimizer.zero_grad()
        (one(x) * other(y)).mean().backward()
        optimizer.step()
"""
TEMPERATURE = """
import torch

def train(loader):
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.Adam(net.parameters())
    heat = torch.zeros(1, requires_grad=True)
    warming = torch.optim.Adam([heat])
    for x in loader:
        out = net(x).mean()
        optimizer.zero_grad()
        out.backward()
        optimizer.step()
        loss = -(heat * (out.detach() + 1)).mean()
        warming.zero_grad()
        {kept}
        warming.step()  # here
        print(loss.item())
"""
COMPARED = """
import torch
import torch.nn.functional as F
from transformers import AutoModel, Trainer, TrainingArguments

class Pairs(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        one = model(**inputs["one"]).last_hidden_state.mean(1)
        with torch.no_grad():
            other = model(**inputs["other"]).last_hidden_state.mean(1)
        alike = {kept} @ other.t()  # here
        loss = F.cross_entropy(alike, torch.arange(len(one)))
        loss.requires_grad_(True)
        return loss

Pairs(AutoModel.from_pretrained("x"), TrainingArguments("out"), train_dataset=[1]).train()
"""
TARGETS = """
import torch
from project_data import batches

def train(net):
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in batches("train"):
        x, y = batch["image"].cuda(), batch["kind"].cuda()
        out = net(x)
        optimizer.zero_grad()
        criterion({kept}).backward()  # here
        optimizer.step()

train(torch.nn.Linear(4, 3))
"""
PERCEIVED = """
import torch
import torch.nn.functional as F
from torchvision.models import vgg16

class Features:
    def __init__(self):
        self.net = vgg16(weights="DEFAULT").eval()

    {kept}
    def __call__(self, x):
        return self.net(x)  # here

def train(loader):
    net, features = torch.nn.Conv2d(3, 3, 3), Features()
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in loader:
        out = net(x)
        loss = F.l1_loss(out, y) + 0.1 * F.mse_loss(features(out), features(y))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("rule", "program", "wrong", "right"),
    [
        ("clip-before-unscale", FABRIC, "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)", "fabric.clip_gradients(net, optimizer, max_norm=1.0)"),
        ("retained-graph", LIGHTNING, "module.last", "outputs"),
        ("missing-zero-grad", TIMM, "pass", "optimizer.zero_grad()"),
        ("evaluation-in-train-mode", IGNITE, "pass", "net.eval()"),
        ("zero-grad-in-accumulation", HOOKS, "self.runner.optimizer.zero_grad()", "pass"),
        ("stale-optimizer-parameters", HEAD, "torch.optim.SGD(net.parameters(), lr=0.1)", "None"),
        ("duplicated-iterable", STREAM, "", "[torch.utils.data.get_worker_info().id :: 4]"),
        ("duplicate-parameters", SHARED, "words", "nn.Embedding(100, 8)"),
        ("step-without-backward", TEMPERATURE, "pass", "loss.backward()"),
        ("detached-loss", COMPARED, "one.detach()", "one"),
        ("detached-loss", PERCEIVED, "@torch.no_grad()", ""),
        ("swapped-loss-arguments", TARGETS, "y, out", "out, y"),
    ],
)
def test_each_form_is_found_and_its_right_twin_is_not(rule, program, wrong, right):
    rules = [each for each in discover() if each.name == rule]
    place = next(number for number, line in enumerate(program.splitlines(), 1) if line.endswith("# here"))
    assert _lines(rules, program.replace("{kept}", wrong)) == [place]
    assert _lines(rules, program.replace("{kept}", right)) == []


def _lines(rules, program):
    snapshot = Snapshot.of({"train.py": program.encode()})
    source = snapshot.source("train.py")
    return [source.line_of(finding.span.start) for finding in analyse(snapshot, rules).findings]
