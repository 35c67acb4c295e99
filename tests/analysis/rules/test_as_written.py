"""Mistakes of one process in the forms in which people write them: each program was once passed over, its twin is right."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

HISTORY = """
import torch

class History:
    def __init__(self):
        self.seen = []

    def on_step(self, runner):
        self.seen.append({kept})  # here

class Runner:
    def __init__(self, net, loader):
        self.net, self.loader, self.loss = net, loader, None
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.callbacks = [History()]

    def fire(self, name):
        for each in self.callbacks:
            getattr(each, name)(self)

    def fit(self):
        for x in self.loader:
            self.loss = self.net(x).mean()
            self.optimizer.zero_grad()
            self.loss.backward()
            self.optimizer.step()
            self.fire("on_step")

Runner(torch.nn.Linear(4, 1), torch.utils.data.DataLoader([torch.zeros(4)])).fit()
"""
EXPERTS = """
import torch
from torch import nn

class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = {kept}(nn.Linear(4, 4) for _ in range(3))  # here

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        return sum(weights[:, i : i + 1] * expert(x) for i, expert in enumerate(self.experts))

def train(loader):
    net = Experts()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""
MASKED = """
import torch

def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, seen in loader:
        scores = net(x)
        {kept}torch.where(seen, scores, torch.zeros_like(scores))  # here
        optimizer.zero_grad()
        scores.mean().backward()
        optimizer.step()
"""
DRAWN = """
import torch
from torch.distributions import Normal

def train(actor, critic, loader):
    act = torch.optim.Adam(actor.parameters())
    value = torch.optim.Adam(critic.parameters())
    for state, target in loader:
        value.zero_grad()
        torch.nn.functional.mse_loss(critic(state), target).backward()
        value.step()
        drawn = Normal(actor(state), 1.0).{kept}()  # here
        act.zero_grad()
        (-critic(drawn).mean()).backward()
        act.step()
"""
WEIGHED = """
import torch
import torch.nn.functional as F

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.kind, self.box = torch.nn.Linear(4, 4), torch.nn.Linear(4, 3), torch.nn.Linear(4, 4)

    def forward(self, x):
        x = self.body(x)
        return {{"kind": self.kind(x), "box": self.box(x)}}

def losses_of(out, kind, box):
    losses = {{}}
    losses["kind"] = F.cross_entropy(out["kind"], kind)
    losses["box"] = F.l1_loss(out["box"], box)  # here
    return losses

WEIGHTS = {{"kind": 1.0{kept}}}

def train(loader):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, kind, box in loader:
        losses = losses_of(net(x), kind, box)
        optimizer.zero_grad()
        sum(weight * losses[name] for name, weight in WEIGHTS.items()).backward()
        optimizer.step()
        print({{name: value.item() for name, value in losses.items()}})
"""
HOOKED = """
import torch

class Norms:
    def after_backward(self, runner):
        self.last = max(p.grad.norm().item() for p in runner.net.parameters())
        {kept}  # here

class Runner:
    def __init__(self, net):
        self.net, self.hooks = net, [Norms()]
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def call(self, name):
        for hook in self.hooks:
            getattr(hook, name)(self)

    def train(self, loader):
        for x in loader:
            self.net(x).mean().backward()
            self.call("after_backward")
            self.optimizer.step()
            self.optimizer.zero_grad()

Runner(torch.nn.Linear(4, 1)).train(torch.utils.data.DataLoader([torch.zeros(4)]))
"""
CHUNKS = """
import itertools
import torch

def chunks(loader, size):
    batches = iter(loader)
    while chunk := list(itertools.islice(batches, size)):
        yield chunk

def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for chunk in chunks(loader, 4):
        optimizer.zero_grad()
        for x, y in chunk:
            loss = torch.nn.functional.mse_loss(net(x), y){kept}
            loss.backward()  # here
        optimizer.step()
"""
LINKS = """
import torch
import torch.nn.functional as F
from torch_geometric.nn import GCNConv

def train(graph, pairs, linked):
    net = GCNConv(8, 8)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(100):
        optimizer.zero_grad()
        z = net(graph.x, graph.edge_index)
        scores = (z[pairs[0]] * z[pairs[1]]).sum(-1){kept}
        F.binary_cross_entropy(scores, linked).backward()  # here
        optimizer.step()
"""
SPREAD = """
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

def loaders(size):
    common = dict(batch_size=size, num_workers=2)
    return {{name: DataLoader(ImageFolder(name), {kept}**common) for name in ("train", "test")}}  # here

def main():
    net = torch.nn.Linear(8, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    data = loaders(16)
    for epoch in range(10):
        for x, y in data["train"]:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()

main()
"""
MASKED_MEAN = """
import torch
import torch.nn.functional as F

def masked(scores, ids, mask):
    loss = F.cross_entropy(scores.flatten(0, 1), ids.flatten(), reduction="none").view_as(ids)
    return (loss * mask).sum() / {kept}  # here

def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for i, (ids, mask) in enumerate(loader):
        (masked(net(ids), ids, mask) / 4).backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
RECORDS = """
from dataclasses import dataclass
import torch

@dataclass
class Seen:
    score: torch.Tensor
    step: int

def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    pool = []
    for step, x in enumerate(loader):
        score = net(x)
        optimizer.zero_grad()
        score.mean().backward()
        optimizer.step()
        pool.append(Seen({kept}, step))  # here
    return [float(each.score) for each in pool]
"""
WINDOWED = """
import torch

class Spectrum:
    def __init__(self, device="cpu"):
        self.window = torch.hann_window(512, device={kept})

    def __call__(self, x):
        return torch.stft(x, 512, window=self.window.to(x.device), return_complex=True).abs()  # here

def train(net, loader):
    net.cuda()
    spectrum = Spectrum()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.l1_loss(spectrum(net(x.cuda())), spectrum(y.cuda())).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("rule", "program", "wrong", "right"),
    [
        ("retained-graph", HISTORY, "runner.loss", "runner.loss.item()"),
        ("unregistered-modules", EXPERTS, "tuple", "nn.ModuleList"),
        ("discarded-result", MASKED, "", "scores = "),
        ("detached-loss", DRAWN, "sample", "rsample"),
        ("unused-loss", WEIGHED, "", ', "box": 5.0'),
        ("zero-grad-before-step", HOOKED, "runner.optimizer.zero_grad()", "pass"),
        ("unscaled-accumulation", CHUNKS, "", " / len(chunk)"),
        ("bce-activation", LINKS, "", ".sigmoid()"),
        ("token-mean-accumulation", MASKED_MEAN, "mask.sum()", "1024"),
        ("retained-graph", RECORDS, "score", "score.detach()"),
        ("repeated-transfer", WINDOWED, "None", '"cuda"'),
        ("unshuffled-training", SPREAD, "", "shuffle=True, "),
    ],
)
def test_each_form_is_found_and_its_right_twin_is_not(rule, program, wrong, right):
    rules = [each for each in discover() if each.name == rule]
    place = next(number for number, line in enumerate(program.splitlines(), 1) if line.endswith("# here"))
    assert _lines(rules, program.format(kept=wrong)) == [place]
    assert _lines(rules, program.format(kept=right)) == []


def _lines(rules, program):
    snapshot = Snapshot.of({"train.py": program.encode()})
    source = snapshot.source("train.py")
    return [source.line_of(finding.span.start) for finding in analyse(snapshot, rules).findings]
