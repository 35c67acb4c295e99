"""Terms and parameters that no gradient comes to because they were made without a graph, or anew, in another function."""

from __future__ import annotations

import pytest

from tests.analysis.rules.twins import assert_told_apart

ACTOR = """
import torch
from torch.distributions import Categorical

class Agent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)

    @torch.{kept}
    def act(self, seen, action):
        chances = Categorical(logits=self.actor(seen))
        return chances.log_prob(action), chances.entropy()

def train(batches):
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters())
    for seen, action, before, gain in batches:
        now, spread = agent.act(seen, action)  # here
        ratio = (now - before).exp()
        loss = -(ratio * gain).mean() + 0.5 * (agent.critic(seen) - gain).square().mean() - 0.01 * spread.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
ADAPTED = """
import torch
from torch.func import functional_call

def adapted(model, x, y, steps):
    fast = dict(model.named_parameters())
    for _ in range(steps):
        loss = torch.nn.functional.mse_loss(functional_call(model, fast, x), y)
        slopes = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
        fast = {name: {kept} for (name, value), slope in zip(fast.items(), slopes)}  # here
    return fast

def train(tasks):
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in tasks:
        loss = torch.nn.functional.mse_loss(functional_call(model, adapted(model, x, y, 3), x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
PREFERENCES = """
from transformers import AutoModelForCausalLM
from trl import DPOConfig, DPOTrainer

class Keeping(DPOTrainer):
    kept = []

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        loss = super().compute_loss(model, inputs, num_items_in_batch=num_items_in_batch)
        self.kept.append({kept})  # here
        return loss

model = AutoModelForCausalLM.from_pretrained("x")
Keeping(model, None, args=DPOConfig(output_dir="out"), train_dataset=[1]).train()
"""


@pytest.mark.parametrize(
    ("rule", "program", "wrong", "right"),
    [
        ("detached-loss", ACTOR, "no_grad()", "enable_grad()"),
        ("detached-loss", ADAPTED, "(value - 0.1 * slope).detach().requires_grad_()", "value - 0.1 * slope"),
        ("retained-graph", PREFERENCES, "loss", "loss.item()"),
    ],
)
def test_what_no_gradient_comes_to_is_told_from_its_right_twin(rule: str, program: str, wrong: str, right: str) -> None:
    assert_told_apart(rule, program, wrong, right)


HEADS = """
import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

class Joint(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.topic, self.tags = nn.Linear(8, 8), nn.Linear(8, 3), nn.Linear(8, 5)

    def forward(self, x, topic, tags):
        h = self.body(x).relu()
        coarse = nn.functional.cross_entropy(self.topic(h), topic)
        fine = nn.functional.cross_entropy(self.tags(h), tags)  # here
        return {"loss": coarse, "coarse": coarse, "fine": fine}

def train(loader):
    writer, model = SummaryWriter(), Joint()
    optimizer = torch.optim.Adam(model.parameters())
    for step, (x, topic, tags) in enumerate(loader):
        out = model(x, topic, tags)
        optimizer.zero_grad()
        {kept}.backward()
        optimizer.step()
        writer.add_scalar("fine", out["fine"].detach(), step)
"""


def test_a_term_that_a_model_hands_out_only_to_be_logged_is_told() -> None:
    assert_told_apart("unused-loss", HEADS, 'out["loss"]', '(out["loss"] + out["fine"])')
