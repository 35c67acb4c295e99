"""Files that are no training script are told from their text, in one sentence."""

from __future__ import annotations

import pytest

from analysis.certainty import Unknown
from analysis.snapshot import Snapshot
from estimator.run import is_entry
from tests.estimator.script.running import estimated, small

TRAINS = small("return self.outer(self.inner(x))")
FUNCTIONS = """
import torch

def prepare(rows):
    return torch.tensor(rows)

def train(model, loader, optimizer):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        (TRAINS, True),
        (FUNCTIONS, False),
        (f"{FUNCTIONS}\nif __name__ == '__main__':\n    train(*prepare(None))\n", True),
        (f"{FUNCTIONS}\ntrain(None, None, None)\n", True),
        ("print('nothing of PyTorch')\n", False),
        ("import torch\nlogger = logging.getLogger(__name__)\nSIZE = 4\n", False),
        ("import torch\nout = torch.load('m.pt').generate(4)\n", True),
    ],
)
def test_an_entry_does_something_with_pytorch(text, entry):
    assert is_entry(Snapshot.of({"train.py": text.encode()}), "train.py") is entry


def test_what_an_entry_imports_may_be_what_trains():
    files = {"run.py": b"from engine import go\ngo()\n", "engine.py": b"import torch\ndef go(): pass\n", "notes.py": b"print(1)\n"}
    snapshot = Snapshot.of(files)
    assert is_entry(snapshot, "run.py")
    assert not is_entry(snapshot, "notes.py")


def test_the_function_that_trains_is_named():
    found = estimated(FUNCTIONS)
    assert found.memory is None
    assert isinstance(found.config.model, Unknown)
    assert found.unknowns == ("train.py: nothing is called at its top level; train (line 7) trains: name the script that calls it",)


def test_a_file_that_cannot_be_read_says_why():
    found = estimated("def broken(:\n")
    assert found.memory is None
    assert found.unknowns[0].startswith("train.py cannot be read: not valid Python")


def test_a_script_that_reaches_no_model_says_so():
    found = estimated("import torch\nprint(torch.__version__)\n")
    assert found.memory is None
    assert "no model was seen to train" in found.unknowns[0]
