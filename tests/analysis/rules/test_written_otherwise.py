"""Mistakes of a training step in forms that were passed over once, each beside its right twin."""

from __future__ import annotations

import pytest

from tests.analysis.rules.twins import assert_told_apart, lines_of

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
EPISODE = """
import torch
from torch import nn

class Agent:
    def __init__(self, width):
        self.cell, self.out = nn.GRUCell(4, width), nn.Linear(width, 2)
        self.optimizer = torch.optim.SGD([*self.cell.parameters(), *self.out.parameters()], lr=0.1)
        self.memory = {"h": torch.zeros(1, width)}

    def learn(self, x, y):
        h = self.cell(x, self.memory["h"])
        self.memory["h"] = {kept}  # here
        self.optimizer.zero_grad()
        nn.functional.mse_loss(self.out(h), y).backward()
        self.optimizer.step()
"""
CRITIC = """
import torch

class Learner:
    def __init__(self, actor, critic):
        self.actor, self.critic = actor, critic
        self.actor_optimizer = torch.optim.Adam(actor.parameters())
        self.critic_optimizer = torch.optim.Adam(critic.parameters())

    def update(self, x, taken, gain):
        value = self.critic(x).squeeze(-1)
        error = (gain - value).square().mean()
        self.critic_optimizer.zero_grad()
        {kept}
        self.critic_optimizer.step()  # here
        loss = -(self.actor(x).log_prob(taken) * (gain - value.detach())).mean()
        self.actor_optimizer.zero_grad()
        loss.backward()
        self.actor_optimizer.step()
        return error.item()
"""
BROKEN_OFF = """
import torch

def train(model, loader, optimizer):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        scaler.scale(torch.nn.functional.mse_loss(model(x), y)).backward()
        scaler.unscale_(optimizer)  # here
        if torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0) > 100:
            {kept}
            continue
        scaler.step(optimizer)
        scaler.update()
"""
ASIDE = """
import lightning as L
import torch
from torch import nn
from torch.nn import functional as F

class Net(L.LightningModule):
    def __init__(self, encoder: nn.Module):
        super().__init__()
        self.encoder, self.head, self.side = encoder, nn.Conv2d(8, 2, 1), nn.Conv2d(8, 2, 1)

    def training_step(self, batch, index):
        x, y = batch
        deep, middle = self.encoder(x)
        loss = F.cross_entropy(F.interpolate(self.head(deep), 64), y)
        aside = F.cross_entropy(F.interpolate(self.side(middle), 64), y)  # here
        self.log_dict({"loss": loss, "aside": aside})
        return loss{kept}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

def main(encoder, data):
    L.Trainer(max_epochs=3).fit(Net(encoder), data)
"""
BY_UPDATES = """
import torch
from accelerate import Accelerator
from transformers import get_cosine_schedule_with_warmup

def train(net, loader, most=20_000):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    optimizer = torch.optim.AdamW(net.parameters())
    schedule = get_cosine_schedule_with_warmup(optimizer, 500, most)
    net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    updates = 0
    while updates < most:
        for x in loader:
            with accelerator.accumulate(net):
                accelerator.backward(net(x).mean())
                optimizer.step()
                if {kept}:
                    schedule.step()  # here
                optimizer.zero_grad()
            if accelerator.sync_gradients:
                updates += 1
"""
BORN = """
import torch
from transformers import AutoModelForSequenceClassification

def margin(model, one, other):
    return model(**one).logits - model(**other).logits

def train(pairs):
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased")
    {kept}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for one, other in pairs:
        loss = -margin(model, one, other).sigmoid().log().mean()  # here
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
LAST_OF_WINDOW = """
import torch

def train(model, loader, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y){kept}
        loss.backward()  # here
        if i % steps == steps - 1 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
"""


@pytest.mark.parametrize(
    ("rule", "program", "wrong", "right"),
    [
        ("unscaled-accumulation", COUNTED_UP, "", " / self.cfg.update_every"),
        ("double-softmax", IGNITE, "Softmax", "Identity"),
        ("bce-activation", FASTAI, "Sigmoid", "Identity"),
        ("detached-loss", STARVED, "no_grad", "enable_grad"),
        ("detached-loss", TERM, "no_grad", "enable_grad"),
        ("stale-optimizer-parameters", REPLACED, "nn.GroupNorm(8, 32)", "child"),
        ("stuck-in-eval", BORN, "pass", "model.train()"),
        ("unscaled-accumulation", LAST_OF_WINDOW, "", " / steps"),
        ("hidden-state-graph", EPISODE, "h", "h.detach()"),
        ("step-without-backward", CRITIC, "pass", "error.backward()"),
        ("scaler-without-update", BROKEN_OFF, "pass", "scaler.update()"),
        ("unused-loss", ASIDE, "", " + aside"),
        ("scheduler-interval", BY_UPDATES, "True", "accelerator.sync_gradients"),
    ],
)
def test_each_form_is_found_and_its_right_twin_is_not(rule: str, program: str, wrong: str, right: str) -> None:
    assert_told_apart(rule, program, wrong, right)


def test_a_baseline_that_another_loss_trains_is_cut_on_purpose() -> None:
    assert lines_of("detached-loss", CRITIC.replace("{kept}", "pass")) == []


def test_what_a_framework_reads_itself_is_no_wait_of_the_program() -> None:
    assert lines_of("sync-in-hot-loop", IGNITE.replace("{kept}", "Identity")) == []
