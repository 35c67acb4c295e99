"""Correct code that looks wrong: each once raised an alarm, in a program that somebody wrote."""

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

RULES = (
    "retained-graph", "missing-zero-grad", "double-softmax", "unsharded-loader", "stuck-in-eval", "evaluation-with-grad", "missing-set-epoch", "discarded-move",
    "bypassed-backward", "rank-conditional-collective", "unscaled-accumulation", "frozen-by-mistake", "discarded-result",
    "clip-before-unscale", "step-bypasses-scaler", "scheduler-interval",
)  # fmt: skip

POLICY_GRADIENT = """
import torch
from torch.distributions import Categorical

class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 2)
        self.saved, self.rewards = [], []

    def forward(self, x):
        return torch.softmax(self.body(x), dim=1)

policy = Policy()
optimizer = torch.optim.Adam(policy.parameters())

def act(state):
    choice = Categorical(policy(state))
    action = choice.sample()
    policy.saved.append(choice.log_prob(action))
    return action.item()

def finish():
    loss = torch.cat([-p * r for p, r in zip(policy.saved, policy.rewards)]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved[:]

def main(env):
    for episode in range(100):
        state = env.reset()
        for t in range(1000):
            state, reward, done = env.step(act(state))
            policy.rewards.append(reward)
            if done:
                break
        finish()

main(make_env())
"""
STYLE_TRANSFER = """
import torch

def run(vgg, content, style):
    target = content.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([target])
    for step in range(100):
        style_loss = 0
        for a, b in zip(vgg(target), vgg(style)):
            style_loss += torch.mean((a - b) ** 2)
        optimizer.zero_grad()
        style_loss.backward()
        optimizer.step()
"""
WRAPPED_OPTIMIZER = """
import torch

class Noam:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def step(self):
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()

def train(model, loader):
    scaler = torch.amp.GradScaler("cuda")
    optimizer = Noam(torch.optim.Adam(model.parameters()))
    for x, y in loader:
        optimizer.zero_grad()
        scaler.scale(torch.nn.functional.mse_loss(model(x), y)).backward()
        scaler.step(optimizer)
        scaler.update()
"""
OUTSIDE_MODEL = """
import torch
from elsewhere import build, groups

def train(loader):
    model = build()
    optimizer = torch.optim.AdamW(groups(model), lr=0.1)
    for batch in loader:
        loss = model(**batch)[0]
        loss.backward()
        optimizer.step()
        model.zero_grad()
"""
DECORATED_GENERATOR = """
import torch

@torch.inference_mode()
def tokens(model, count):
    token = torch.zeros(1, 1).long()
    for i in range(count):
        token = model(token).argmax(-1)
        yield token

def generate(model):
    model.eval()
    for i in range(3):
        for token in tokens(model, 8):
            print(token)

generate(torch.nn.Sequential(torch.nn.Embedding(8, 8), torch.nn.Linear(8, 8)))
"""
PERCEPTUAL = """
import torch

def train(generator, features, loader):
    features.eval()
    optimizer = torch.optim.Adam(generator.parameters())
    for low, high in loader:
        fake = generator(low)
        loss = torch.nn.functional.l1_loss(features(fake), features(high).detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
ADVERSARIAL_CODE = """
import torch
from elsewhere import ARGVA

def train(data, encoder, discriminator):
    model = ARGVA(encoder, discriminator)
    first = torch.optim.Adam(encoder.parameters())
    second = torch.optim.Adam(discriminator.parameters())
    model.train()
    for epoch in range(10):
        first.zero_grad()
        z = model.encode(data.x)
        for _ in range(5):
            second.zero_grad()
            model.discriminator_loss(z).backward()
            second.step()
        model.recon_loss(z).backward()
        first.step()
"""
WINDOW_SUM = """
import torch

def train(model, loader, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    running = 0
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y)
        running += loss
        (loss / steps).backward()
        if (i + 1) % steps == 0:
            optimizer.step()
            optimizer.zero_grad()
            print(running.item() / steps)
            running = 0
"""
OPEN_WINDOW = """
import torch

class Trainer:
    def __init__(self, model, args):
        self.model, self.args = model, args

    def train(self, loader):
        args = self.args
        optimizer = torch.optim.SGD(self.model.parameters(), lr=args.learning_rate)
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.mse_loss(self.model(x), y)
            if args.accumulation_steps > 1:
                loss = loss / args.accumulation_steps
            loss.backward()
            if (step + 1) % args.accumulation_steps == 0:
                optimizer.step()
                optimizer.zero_grad()
"""
THAWED_PART = """
import timm
import torch

def train(loader):
    model = timm.create_model("resnet50d", pretrained=True)
    for parameter in model.parameters():
        parameter.requires_grad = False
    for parameter in model.get_classifier().parameters():
        parameter.requires_grad = True
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
"""
SHOWN_IN_A_NOTEBOOK = """
import torch
from datasets import load_dataset

rows = load_dataset("rows", split="train")
lowered = rows.map(lambda row: {"text": row["text"].lower()})
lowered
scores = torch.ones(4).clamp(0, 1)
scores
"""
METHOD_CALLED_SCALE = """
import torch

def train(model, loader, weights):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    factor = torch.ones(1)
    for x, y in loader:
        optimizer.zero_grad()
        factor.scale(torch.nn.functional.mse_loss(model(x), y)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
"""
TWO_TRAININGS = """
import torch

def train(model, loader, stop):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10)
    for epoch in range(30):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            if stop:
                return
        scheduler.step()

def search(models, loader):
    train(models[0], loader, True)
    train(models[1], loader, False)

search([torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)], torch.load("rows.pt"))
"""
PROGRAMS = {name.lower(): code for name, code in list(globals().items()) if name.isupper() and isinstance(code, str)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_alarm(name):
    rules = [rule for rule in discover() if rule.name in RULES]
    report = analyse(Snapshot.of({"train.py": PROGRAMS[name].encode()}), rules)
    assert not report.problems
    assert [(finding.rule, finding.message) for finding in report.findings] == []
