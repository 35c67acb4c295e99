"""Each value that is known names the line on which it is written, not the one on which it is used."""

from __future__ import annotations

import pytest

from analysis.certainty import Assumed, Known, Place
from tests.estimator.script.running import estimated, line_of, small

NET = small("return self.outer(self.inner(x))")
ARGUMENT = """
import argparse
import torch
from torch import nn

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    model = nn.Linear(8, 4).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = torch.utils.data.TensorDataset(torch.zeros(100, 8))
    for (x,) in torch.utils.data.DataLoader(rows, batch_size=args.batch_size):
        model(x.cuda()).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    main()
"""


def loaded_with(value: str, above: str) -> str:
    return NET.replace("batch_size=32", f"batch_size={value}").replace("{above}", "").replace("class Net", f"{above}\n\n\nclass Net", 1)


@pytest.mark.parametrize(
    ("value", "above", "written"),
    [
        ("32", "", "batch_size=32"),
        ("BATCH", "BATCH = 32", "BATCH = 32"),
        ("config['batch']", "config = {\n    'batch': 32,\n}", "'batch': 32"),
        ("config.batch", "from dataclasses import dataclass\n@dataclass\nclass Config:\n    batch: int = 32\nconfig = Config()", "class Config"),
        ("options.batch", "class Options:\n    batch = 32\n\noptions = Options()", "batch = 32"),
        ("Options.batch", "class Options:\n    batch = 32\n", "batch = 32"),
    ],
)
def test_a_batch_size_is_followed_to_its_line(value, above, written):
    script = loaded_with(value, above)
    found = estimated(script).config.batch_size
    assert isinstance(found, Known)
    assert found.value == 32
    assert found.because is not None
    assert abs(found.because.line - line_of(script, written)) <= 1


def test_an_option_of_the_command_line_is_where_it_is_declared():
    assert estimated(ARGUMENT).config.batch_size == Known(16, Place("train.py", line_of(ARGUMENT, "--batch-size")))


def test_a_setting_of_the_caller_has_no_line():
    found = estimated(ARGUMENT, settings={"batch_size": "64"})
    assert found.config.batch_size == Known(64)
    assert found.unknowns == ()


def test_a_setting_that_nothing_is_called_is_said():
    found = estimated(ARGUMENT, settings={"batchsize": "64"})
    assert found.config.batch_size.value == 16
    assert found.unknowns == ("--set batchsize: the script has neither a global nor an argument of this name",)


def test_a_document_of_the_repository_is_named_with_its_line():
    script = loaded_with("config['train']['batch_size']", "import yaml\nwith open('run.yaml') as f:\n    config = yaml.safe_load(f)")
    files = {"train.py": script, "run.yaml": "model: net\ntrain:\n  lr: 0.1\n  batch_size: 32\n"}
    assert estimated(files).config.batch_size == Known(32, Place("run.yaml", 4))


def test_a_value_of_an_imported_file_is_named_there():
    script = loaded_with("settings.BATCH_SIZE", "import settings")
    assert estimated({"train.py": script, "settings.py": "BATCH_SIZE = 32\n"}).config.batch_size == Known(32, Place("settings.py", 1))


def test_texts_of_no_known_length_are_assumed_in_the_open():
    script = """
    import torch
    from datasets import load_dataset
    from transformers import AutoTokenizer, DataCollatorWithPadding, GPT2LMHeadModel

    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    rows = load_dataset("somebody/texts", split="train").map(lambda row: tokenizer(row["text"]))
    rows.set_format("torch", columns=["input_ids"])
    model = GPT2LMHeadModel.from_pretrained("gpt2").cuda().train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in torch.utils.data.DataLoader(rows, batch_size=2, collate_fn=DataCollatorWithPadding(tokenizer)):
        ids = batch["input_ids"].cuda()
        model(ids, labels=ids).loss.backward()
        optimizer.step()
    """
    found = estimated(script)
    assert isinstance(found.config.sequence_length, Assumed)
    assert found.config.sequence_length.value == 512
    assert "not cut to a length" in found.config.sequence_length.why
