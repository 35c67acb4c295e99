"""A trainer that nobody makes is prepared before it trains."""

from __future__ import annotations

from analysis.index import index
from analysis.library.entries import Entry
from analysis.library.program import trace_program
from analysis.library.running import run
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

TRAINER = """
import torch

class Trainer:
    def __init__(self, config):
        self.config = config

    def load(self):
        self.build()
        self.closed = False

    def build(self):
        self.model = torch.nn.Linear(1, 1)
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def load_from(self, path):
        self.model = torch.load(path)

    def close(self):
        self.optimizer = None

    def train(self):
        for batch in self.config.batches:
            self.model(batch).sum().backward()
            self.optimizer.step()
            if self.closed:
                break
"""


def kinds(code: str, qualname: str) -> list[Kind]:
    snapshot = Snapshot.of({"trainer.py": code.encode()})
    ended = run(snapshot, index(snapshot), Entry("trainer.py", qualname))
    assert ended is not None
    return [event.kind for event in ended.trace(snapshot, Entry("trainer.py", qualname)).events_in_order()]


def test_what_sets_the_attributes_that_are_read_comes_first():
    found = kinds(TRAINER, "Trainer.train")
    assert found.count(Kind.OPTIMIZER_BUILT) == 1
    assert found.index(Kind.OPTIMIZER_BUILT) < found.index(Kind.BACKWARD) < found.index(Kind.STEP)


def test_a_constructor_that_sets_them_is_enough():
    made = TRAINER.replace("        self.config = config\n", "        self.config = config\n        self.load()\n")
    assert kinds(made, "Trainer.train").count(Kind.OPTIMIZER_BUILT) == 1


def test_a_method_that_trains_prepares_nothing():
    other = TRAINER.replace("        self.closed = False\n", "        self.closed = False\n        self.optimizer.step()\n")
    assert Kind.OPTIMIZER_BUILT not in kinds(other.replace("def build(self)", "def build(self, size)"), "Trainer.train")


STEPS = """
import torch

class Runner:
    def __init__(self, model):
        self.model = model

    def validate(self, loader):
        self.model.eval()
        batch = next(loader)
        return self.model.val_step(batch)
"""


def test_what_evaluates_the_next_batch_of_an_iterator_is_called_again():
    assert kinds(STEPS, "Runner.validate").count(Kind.EVAL_MODE) == 0  # nothing says what the model is in a single run
    snapshot = Snapshot.of({"runner.py": STEPS.encode()})
    traces = list(trace_program(snapshot, index(snapshot), ["runner.py"]))
    assert traces
    assert all(len(list(trace.events(Kind.FORWARD))) > 1 for trace in traces)


def test_methods_inside_wrappers_are_prepared_too():
    wrapped = """
import functools

def registered(method):
    @functools.wraps(method)
    def inner(*args, **kwargs):
        return method(*args, **kwargs)
    return inner
"""
    made = TRAINER
    for name in ("load", "train"):
        made = made.replace(f"    def {name}(self):", f"    @registered\n    def {name}(self):")
    found = kinds(wrapped + made, "Trainer.train")
    assert found.index(Kind.OPTIMIZER_BUILT) < found.index(Kind.BACKWARD) < found.index(Kind.STEP)
