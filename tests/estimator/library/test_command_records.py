"""A record that a script hands to its command line as the default: what the line says of its fields, and of those of the records in it, is changed."""

from __future__ import annotations

from analysis.snapshot import Snapshot
from estimator.request import Request
from estimator.run import estimate

SCRIPT = b"""
import torch
import tyro
from dataclasses import dataclass, field
from torch import nn

class Buildable:
    def __init_subclass__(cls, **options):
        if "Config" in cls.__dict__:
            if "__slots__" not in cls.__dict__["Config"].__dict__:
                raise TypeError("slots are needed")
            cls.__dict__["Config"].owner = cls

@dataclass(kw_only=True, slots=True)
class Data:
    batch_size: int = 8

class Trainer(Buildable):
    @dataclass(kw_only=True, slots=True)
    class Config:
        width: int = 16
        data: Data = field(default_factory=Data)

    def __init__(self, config):
        self.config = config

    def train(self):
        model = nn.Linear(self.config.width, 4).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(4):
            model(torch.zeros(self.config.data.batch_size, self.config.width).cuda()).sum().backward()
            optimizer.step()
            optimizer.zero_grad()

if __name__ == "__main__":
    preset = Trainer.Config(width=32)
    config = tyro.cli(type(preset), default=preset)
    config.owner(config).train()
"""
LAUNCH = b"python train.py --data.batch_size 24\n"


def test_fields_of_inner_records_are_changed():
    plain, started = estimate(Snapshot.of({"train.py": SCRIPT, "run.sh": LAUNCH}), Request(entry="train.py"))
    assert plain.memory.parameters == started.memory.parameters == 32 * 4 + 4
    assert (plain.config.batch_size.value, started.config.batch_size.value) == (8, 24)
