"""Options of objects that nobody makes are on in one world and off in the other."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.entries import Entry
from analysis.library.program import trace_program
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

TRAINER = """
from dataclasses import dataclass
import torch

@dataclass
class Options:
    evaluate: bool = False
    steps: int = 3
    resume: str = None

class Trainer:
    def __init__(self, model):
        self.model, self.options = model, Options({given})

    def train(self, data, held_out=None):
        if self.options.evaluate and held_out is None:
            raise ValueError("nothing to evaluate on")
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.model.train()
        for batch in data:
            self.model(batch).sum().backward()
            optimizer.step()
            if self.options.evaluate:
                self.model.eval()
                for x in held_out:
                    self.model(x)
"""


def evaluated(given: str = "") -> list[bool]:
    """For each world that is run, whether it evaluates."""
    snapshot = Snapshot.of({"trainer.py": TRAINER.format(given=given).encode()})
    traces = list(trace_program(snapshot, index(snapshot), ["trainer.py"]))
    assert {trace.function for trace in traces} == {Entry("trainer.py", "Trainer.train").qualname}
    assert all(any(trace.events(Kind.STEP)) for trace in traces)
    return [any(trace.events(Kind.EVAL_MODE)) for trace in traces]


def test_a_switch_that_has_its_default_is_on_in_one_world_and_off_in_the_other():
    assert evaluated() == [True, False]


def test_what_has_to_be_of_a_class_is_passed():
    checked = """
import torch

class Config:
    steps = 3

class Trainer:
    def __init__(self, config=None, model=None, limit=None):
        if not isinstance(config, Config):
            raise ValueError("a Config is needed")
        if model is None:
            raise ValueError("a model is needed")
        self.model, self.limit = model, limit
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def train(self, data):
        for batch in data:
            self.model(batch).sum().backward()
            self.optimizer.step()
"""
    snapshot = Snapshot.of({"trainer.py": checked.encode()})
    traces = list(trace_program(snapshot, index(snapshot), ["trainer.py"]))
    assert traces
    assert all(any(trace.events(Kind.OPTIMIZER_BUILT)) and any(trace.events(Kind.STEP)) for trace in traces)


def test_a_flag_that_led_to_an_exception_is_turned_round():
    raising = """
import torch

class Trainer:
    def __init__(self, model=None, config=None):
        if config.kwargs is None:
            kwargs = {}
        elif not isinstance(model, str):
            raise ValueError("kwargs for a model that is there")
        self.model, self.config = model, config
        self.optimizer = torch.optim.SGD(model.parameters(), lr=config.rate)

    def train(self, data):
        for batch in data:
            self.model(batch).sum().backward()
            self.optimizer.step()
"""
    snapshot = Snapshot.of({"trainer.py": raising.encode()})
    traces = list(trace_program(snapshot, index(snapshot), ["trainer.py"]))
    assert traces
    assert all(len(list(trace.events(Kind.OPTIMIZER_BUILT))) == 1 for trace in traces)


def test_a_switch_that_the_program_sets_is_what_it_was_set_to():
    assert evaluated("evaluate=True") == [True, True]


ACTOR = """
import torch

class Actor:
    def __init__(self, policy: torch.nn.Module, optimizer: torch.optim.Optimizer = None):
        self.role = "frozen" if optimizer is None else "trained"
        {filled}
        self.policy, self.optimizer = policy, optimizer

    def update(self, batches):
        for batch in batches:
            self.optimizer.zero_grad()
            self.policy(batch).sum().backward()
            self.optimizer.step()
"""


@pytest.mark.parametrize(
    ("filled", "stepped"), [("pass", "Optimizer"), ("if optimizer is None: optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)", "SGD")]
)
def test_whoever_trains_passes_an_optimizer_unless_one_is_made_in_its_place(filled, stepped):
    snapshot = Snapshot.of({"actor.py": ACTOR.format(filled=filled).encode()})
    trace = next(iter(trace_program(snapshot, index(snapshot), ["actor.py"])))
    assert {event.subject.cls.name for event in trace.events(Kind.STEP)} == {stepped}


ONE_OF_TWO = """
import argparse
import torch

def train(net, words=None, judge=None, **more):
    if words and judge:
        print("both")
    elif words:
        print("words alone")
    elif judge is not None:
        print("a judge alone")
    {otherwise}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.load(words):
        net(x).sum().backward()
        optimizer.step()

parser = argparse.ArgumentParser()
parser.add_argument("--words", type=str, default=None)
parser.add_argument("--judge", type=str, default=None)
train(torch.nn.Linear(4, 1), **vars(parser.parse_args()))
"""


@pytest.mark.parametrize("otherwise", ["else:\n        raise ValueError('words or a judge')", "else:\n        print('neither')"])
def test_one_of_the_options_is_given_without_which_the_program_ends(otherwise):
    snapshot = Snapshot.of({"train.py": ONE_OF_TWO.format(otherwise=otherwise).encode()})
    traces = list(trace_program(snapshot, index(snapshot), ["train.py"]))
    assert {trace.function for trace in traces} == {""}  # as a script, to its end: the function is not run by itself
    assert all(any(trace.events(Kind.STEP)) for trace in traces)
