"""A schedule that Accelerate prepares and that is told the steps over the whole loader, times the number of processes."""

import pytest

from analysis.engine import analyse
from analysis.rules import scheduler_interval
from analysis.snapshot import Snapshot

PROGRAM = """
import argparse
import math
import torch
from accelerate import Accelerator
from transformers import get_scheduler

def main(model, data):
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--steps", type=int, default={default})
    args = parser.parse_args()
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters())
    loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
    {before}
    per_epoch = math.ceil({length} / 2)
    if args.steps is None:
        args.steps = args.epochs * per_epoch
    scheduler = get_scheduler("cosine", optimizer=optimizer, num_warmup_steps=0, num_training_steps={told})
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    for epoch in range(args.epochs):
        for batch in loader:
            loss = model(batch).mean()
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
"""
WHOLE = {"default": "None", "before": "torch.manual_seed(0)", "length": "len(loader)", "told": "args.steps * accelerator.num_processes"}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, 1),
        ({"length": "math.ceil(len(loader) / accelerator.num_processes)"}, 0),
        ({"told": "args.steps"}, 0),
        ({"default": "500"}, 0),
        ({"before": "loader = accelerator.prepare(loader)"}, 0),
        ({"told": "args.steps if args.epochs else args.steps * accelerator.num_processes"}, 0),
        ({"before": "data = data.map(batch_size=4 * accelerator.num_processes)", "told": "args.steps * 2"}, 0),
    ],
    ids=["whole", "divided", "not multiplied", "given", "shared out before", "chosen", "the data alone"],
)
def test_the_whole_loaders_length_times_the_processes_is_too_long(change: dict[str, str], found: int):
    program = PROGRAM.format(**{**WHOLE, **change})
    report = analyse(Snapshot.of({"train.py": program.encode()}), [scheduler_interval.RULE])
    assert [each.message.split(",")[0] for each in report.findings if "whole loader" in each.message] == [
        "the schedule's length is the number of steps over the whole loader times the number of processes"
    ] * found
