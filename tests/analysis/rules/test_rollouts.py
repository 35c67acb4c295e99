"""What a rollout keeps for its update: emptied in one way or another before the next, or kept for ever."""

import pytest

from analysis.engine import analyse
from analysis.rules import evaluation_in_train_mode, hidden_state_graph, retained_graph
from analysis.snapshot import Snapshot

PROGRAM = """
import torch
from torch.distributions import Categorical

class Memory:
    def __init__(self):
        self.reset()

    def reset(self):
        self.kept, self.rewards = [], []

class Agent:
    def __init__(self, net):
        torch.manual_seed(0)
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())
        self.memory = Memory()

    def act(self, state):
        choice = Categorical(logits=self.net(state))
        action = choice.sample()
        self.memory.kept.append(choice.log_prob(action))
        return action.item()

    def update(self):
        loss = -(torch.stack(self.memory.kept{taken}) * torch.tensor(self.memory.rewards)).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        {emptied}

def main(env, net):
    agent = Agent(net)
    for episode in range(1000):
        state, done = env.reset(), False
        while not done:
            state, reward, done = env.step(agent.act(state))
            agent.memory.rewards.append(reward)
        agent.update()
"""
EMPTIED = (
    "self.memory.kept = []",
    "self.memory.kept.clear()",
    "del self.memory.kept[:]",
    "self.memory.kept[:] = []",
    "self.memory = Memory()",
    "self.memory.reset()",
)


def found(program: str) -> set[str]:
    report = analyse(Snapshot.of({"train.py": program.encode()}), [retained_graph.RULE, hidden_state_graph.RULE])
    assert not report.problems
    return {finding.rule for finding in report.findings}


@pytest.mark.parametrize("emptied", EMPTIED)
def test_a_rollout_that_is_emptied_is_no_mistake(emptied):
    assert found(PROGRAM.format(taken="", emptied=emptied)) == set()


def test_what_is_never_emptied_is_found():
    assert found(PROGRAM.format(taken="[-5:]", emptied="pass")) == {"hidden-state-graph"}


NOISY = """
import torch

class Noisy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.body(x) + torch.randn(2) if self.training else self.body(x)

def main(env, memory):
    torch.manual_seed(0)
    net = Noisy()
    optimizer = torch.optim.Adam(net.parameters())
    state = env.reset()
    for step in range(10000):
        with torch.no_grad():
            action = net(torch.Tensor(state)).argmax(1).cpu().numpy()
        state = env.step(action)
        memory.add(state, action)
        if step % 4 == 0:
            x, y = memory.sample(32)
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()
"""


def test_acting_between_two_training_steps_is_no_evaluation():
    report = analyse(Snapshot.of({"train.py": NOISY.encode()}), [evaluation_in_train_mode.RULE])
    assert not report.problems
    assert report.findings == ()
