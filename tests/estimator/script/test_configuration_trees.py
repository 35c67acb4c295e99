"""Scripts that are configured by trees of settings: OmegaConf, Hydra, LightningCLI, pydantic and files read through paths."""

from __future__ import annotations

import pytest

from tests.estimator.script.running import estimated

HEAD = """
import torch
from torch import nn

def train(model, batch_size, width):
    model = model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(10):
        x = torch.randn(batch_size, width, device="cuda")
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
"""
OMEGACONF = """
import sys
from omegaconf import OmegaConf
cfg = OmegaConf.merge(OmegaConf.load("settings.yaml"), OmegaConf.from_cli(sys.argv[1:]))
train(nn.Linear(cfg.model.inputs, cfg.model.outputs), cfg.data.rows, cfg.model.inputs)
"""
SETTINGS = "data:\n  width: 96\n  rows: 16\nmodel:\n  inputs: ${data.width}\n  outputs: 32\n"
HYDRA = """
import hydra
from hydra.utils import instantiate

@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    train(instantiate(cfg.model), cfg.rows, cfg.model.in_features)

main()
"""
CONF = {
    "conf/config.yaml": "defaults:\n  - model: wide\n  - _self_\nrows: 16\n",
    "conf/model/wide.yaml": "_target_: torch.nn.Linear\nin_features: 96\nout_features: 32\n",
    "conf/model/narrow.yaml": "_target_: torch.nn.Linear\nin_features: 8\nout_features: 4\n",
}
PYDANTIC = """
import json
from pathlib import Path
from pydantic import BaseModel, Field

class Shape(BaseModel):
    inputs: int
    outputs: int = 32

class Config(BaseModel):
    shape: Shape
    rows: int = Field(default=16, gt=0)

cfg = Config(**json.loads((Path(__file__).parent / "settings.json").read_text()))
train(nn.Linear(cfg.shape.inputs, cfg.shape.outputs), cfg.rows, cfg.shape.inputs)
"""
NAMESPACE = """
from types import SimpleNamespace
import yaml
hp = SimpleNamespace(**yaml.safe_load(open("flat.yaml")))
train(nn.Linear(hp.inputs, hp.outputs), hp.rows, hp.inputs)
"""
CLI = """
from lightning.pytorch import LightningModule
from lightning.pytorch.cli import LightningCLI

class Net(LightningModule):
    def __init__(self, inputs: int = 4, outputs: int = 4):
        super().__init__()
        self.layer = nn.Linear(inputs, outputs)
        self.inputs = inputs

    def training_step(self, batch, index):
        return self.layer(batch).sum()

    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.randn(1000, self.inputs), batch_size=16)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [{"scheduler": None, "interval": "step"}]

LightningCLI(Net)
"""
INI = """
import configparser
parser = configparser.ConfigParser()
parser.read("settings.ini")
inputs = parser.getint("model", "inputs")
train(nn.Linear(inputs, int(parser["model"]["outputs"])), parser.getint("run", "rows", fallback=16), inputs)
"""
ATTRIBUTES = """
from collections import namedtuple
import tomli

class Settings(dict):
    __getattr__ = dict.__getitem__

with open("settings.toml", "rb") as file:
    cfg = Settings(tomli.load(file))
Shape = namedtuple("Shape", ["inputs", "outputs"])
shape = Shape(cfg.inputs, outputs=cfg.outputs)
train(nn.Linear(*shape), cfg.rows, shape.inputs)
"""
FILES = {
    "settings.ini": "[model]\ninputs = 96\noutputs = 32\n[run]\n",
    "settings.toml": "inputs = 96\noutputs = 32\nrows = 16\n",
    "settings.yaml": SETTINGS,
    "settings.json": '{"shape": {"inputs": 96}}',
    "flat.yaml": "inputs: 96\noutputs: 32\nrows: 16\n",
    "run.yaml": "trainer:\n  precision: 32\nmodel:\n  inputs: 96\n  outputs: 32\n",
    **CONF,
}


READERS = {
    "omegaconf": OMEGACONF, "hydra": HYDRA, "pydantic": PYDANTIC, "namespace": NAMESPACE, "cli": CLI, "ini": INI, "attributes": ATTRIBUTES,
}  # fmt: skip


@pytest.mark.parametrize("below", READERS.values(), ids=READERS)
def test_settings_of_files_reach_the_model(below):
    found = estimated({"train.py": HEAD + below, **FILES})
    assert found.memory.parameters == 96 * 32 + 32
    assert found.config.batch_size.value == 16


ENUM = """
from enum import Enum

class Size(str, Enum):
    small = "small"
    large = "large"

size = Size("large")
inputs = 96 if size == "large" and "large" == Size.large and size != "small" else 8
train(nn.Linear(inputs, 32 if size is Size.large else 4), 16, inputs)
"""


def test_members_of_text_enumerations_are_their_texts():
    assert estimated(HEAD + ENUM).memory.parameters == 96 * 32 + 32


def test_an_override_chooses_another_file_of_a_group():
    found = estimated({"train.py": HEAD + HYDRA, **FILES}, settings={"model": "narrow"})
    assert found.memory.parameters == 8 * 4 + 4


def test_settings_of_a_file_that_is_not_there_are_not_guessed():
    found = estimated({"train.py": HEAD + OMEGACONF})
    assert found.memory is None
    assert any("settings.yaml" in sentence for sentence in found.unknowns)
