"""An option that counts micro-batches is taken for more than one, wherever its default of one is written."""

import pytest

from analysis.index import index
from analysis.library.program import trace_program
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

CONFIG = """
from dataclasses import dataclass

@dataclass
class Config:
    {option}: int = 1
    epochs: int = 1
"""
PROGRAM = """
import torch
from accelerate import Accelerator
from config import Config

def train(model, loader):
    config = Config()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = iter(loader)
{body}
"""
BY_MODULUS = """
    for i, x in enumerate(loader):
        model(x).mean().backward()
        if (i + 1) % config.steps == 0:
            optimizer.step()
"""
BY_LOOP = """
    for _ in range(8):
        for _ in range(config.steps):
            model(next(batches)).mean().backward()
        optimizer.step()
"""
BY_FRAMEWORK = """
    accelerator = Accelerator(gradient_accumulation_steps=config.steps)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(x).mean())
            optimizer.step()
"""
BY_EPOCH = """
    for i, x in enumerate(loader):
        model(x).mean().backward()
        optimizer.step()
        if i % config.steps == 0:
            print(i)
"""


def backwards_of_a_step(body):
    contents = {"train.py": PROGRAM.format(body=body).encode(), "config.py": CONFIG.format(option="steps").encode()}
    snapshot = Snapshot.of(contents)
    trace = next(trace_program(snapshot, index(snapshot, {}), ["train.py"]))
    backwards, steps = len(list(trace.events(Kind.BACKWARD))), len(list(trace.events(Kind.STEP)))
    return backwards // steps


@pytest.mark.parametrize("body", [BY_MODULUS, BY_LOOP, BY_FRAMEWORK])
def test_a_field_that_counts_micro_batches_is_more_than_one(body):
    assert backwards_of_a_step(body) > 1


def test_other_fields_keep_their_default():
    assert backwards_of_a_step(BY_EPOCH) == 1
