"""Methods of a changed class whose step its subclasses define: they are run for a subclass."""

from __future__ import annotations

from analysis.index import index
from analysis.library.program import trace_program
from analysis.rules import evaluation_with_grad
from analysis.snapshot import Snapshot

AGENT = b"""
import torch

class Agent:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    def act(self, batches, training):
        for batch in batches:
            if training:
                self.train_step(batch)
            else:
                %s
                    self.eval_step(batch)

    def train_step(self, batch):
        raise NotImplementedError

    def eval_step(self, batch):
        raise NotImplementedError
"""
CLASSIFIER = b"""
import torch
from agent import Agent

class Classifier(Agent):
    def __init__(self, optimizer):
        super().__init__(torch.nn.Linear(4, 4), optimizer)

    def train_step(self, batch):
        self.model.train()
        self.optimizer.zero_grad()
        self.model(batch).sum().backward()
        self.optimizer.step()

    def eval_step(self, batch):
        self.model.eval()
        return self.model(batch).sum()
"""


def _said(guard):
    snapshot = Snapshot.of({"agent.py": AGENT % guard, "classifier.py": CLASSIFIER})
    traces = trace_program(snapshot, index(snapshot), ["agent.py", "classifier.py"], ["agent.py"])
    return [each.finding for trace in traces for each in evaluation_with_grad.RULE.check(trace)]


def test_a_changed_method_runs_with_the_steps_of_a_subclass():
    found = _said(b"if batch is not None:")
    assert found
    assert any(step.span.path == "agent.py" for each in found for step in each.evidence)


def test_what_the_changed_method_does_around_the_step_counts():
    assert not _said(b"with torch.no_grad():")
