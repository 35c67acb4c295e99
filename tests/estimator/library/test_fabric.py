"""Loops written with Fabric, and functions that a typed command line calls."""

from __future__ import annotations

import pytest

from tests.estimator.script.running import estimated

FABRIC = """
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

fabric = L.Fabric(devices=1, precision="{precision}")
fabric.launch()
with fabric.init_module(empty_init=True):
    model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024))
model = fabric.setup(model)
optimizer = fabric.setup_optimizers(torch.optim.SGD(model.parameters(), lr=0.1))
loader = fabric.setup_dataloaders(DataLoader(TensorDataset(torch.randn(640, 1024)), batch_size=64))
for (x,) in loader:
    loss = model(x).sum()
    fabric.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(("precision", "shown", "size"), [("32-true", "fp32", 4), ("bf16-mixed", "amp-bf16", 4), ("bf16-true", "bf16", 2)])
def test_the_precision_decides_what_parameters_are_made_in(precision, shown, size):
    found = estimated(FABRIC.format(precision=precision))
    assert (found.config.precision.value, found.config.batch_size.value, found.config.model.value) == (shown, 64, "Sequential")
    assert found.memory.components.parameters == 2 * (1024 * 1024 + 1024) * size


COMMAND = {
    "kit/__init__.py": "",
    "kit/data.py": """
        from dataclasses import dataclass
        from pathlib import Path

        import torch
        from litdata.streaming import StreamingDataLoader, StreamingDataset, TokensLoader

        @dataclass
        class Texts:
            folder: Path
            batch: int = 2

            def loader(self, length):
                data = StreamingDataset(input_dir=str(self.folder / "train"), item_loader=TokensLoader(block_size=length))
                return StreamingDataLoader(data, batch_size=self.batch)
        """,
    "kit/__main__.py": """
        from dataclasses import dataclass

        import torch
        from jsonargparse import CLI
        from kit.data import Texts
        from torch import nn

        @dataclass
        class TrainArgs:
            length: int = 128
            lr: float = 0.1

        def pretrain(width: int, data: Texts | None = None, train: TrainArgs = TrainArgs(lr=0.2)):
            model = nn.Sequential(nn.Embedding(100, width), nn.Linear(width, 100)).cuda()
            optimizer = torch.optim.SGD(model.parameters(), lr=train.lr)
            for tokens in data.loader(train.length):
                model(tokens.cuda()).sum().backward()
                optimizer.step()
                optimizer.zero_grad()

        def convert(path: str):
            raise ValueError(path)

        if __name__ == "__main__":
            CLI({"convert": convert, "pretrain": pretrain})
        """,
}


def test_words_choose_the_function_its_records_and_its_objects():
    words = ("pretrain", "64", "--data", "Texts", "--data.folder", "there/", "--data.batch=8", "--train.length", "256")
    found = estimated(COMMAND, "kit/__main__.py", arguments=words, every_start=False)
    assert (found.config.batch_size.value, found.config.sequence_length.value) == (8, 256)
    assert found.memory.parameters == 100 * 64 + 64 * 100 + 100


def test_a_file_says_what_words_would():
    files = {**COMMAND, "small.yaml": "width: 32\ntrain:\n  length: 64\ndata:\n  class_path: kit.data.Texts\n  init_args:\n    folder: there/\n"}
    found = estimated(files, "kit/__main__.py", arguments=("pretrain", "--config", "small.yaml"), every_start=False)
    assert (found.config.batch_size.value, found.config.sequence_length.value, found.memory.parameters) == (2, 64, 100 * 32 + 32 * 100 + 100)
