"""Runs whose snapshot shows the same are made once, and those that would see something else are made again."""

from __future__ import annotations

import pytest

from analysis import questioning
from analysis.answers import Memory
from analysis.engine import analyse, none
from analysis.library.program import Tracing
from analysis.rule import discover
from analysis.snapshot import Snapshot

_TRAIN = b"""
import torch
from net import Net

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in torch.utils.data.DataLoader([(1, 2)] * 8):
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
"""
_NET = b"""
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)
"""
_FILES = {"train.py": _TRAIN, "net.py": _NET, "other.py": b"import torch\nprint(torch.ones(1))\nif __name__ == '__main__':\n    pass\n"}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The entry files that were run."""
    made: list[str] = []

    class Counting(Tracing):
        def traces(self, entry, ran, seen=None):
            made.append(entry.path)
            yield from super().traces(entry, ran, seen)

    monkeypatch.setattr(questioning, "Tracing", Counting)
    return made


def _ask(files: dict[str, bytes], memory: Memory) -> list[tuple[str, str]]:
    found = analyse(Snapshot.of(files), discover(), memory=memory, fixes=none).findings
    return [(finding.rule, finding.span.path) for finding in found]


def test_nothing_changed_and_nothing_is_run_again(runs: list[str]) -> None:
    memory = Memory()
    before = _ask(_FILES, memory)
    assert ("missing-zero-grad", "train.py") in before
    made = list(runs)
    assert _ask(dict(_FILES), memory) == before
    assert runs == made


def test_what_loads_a_changed_file_is_run_again(runs: list[str]) -> None:
    memory = Memory()
    _ask(_FILES, memory)
    runs.clear()
    _ask(_FILES | {"net.py": _NET.replace(b"self.layer(x)", b"self.layer(x).detach()")}, memory)
    assert "train.py" in runs
    assert "other.py" not in runs


def test_a_new_file_that_shadows_an_import_is_seen(runs: list[str]) -> None:
    memory = Memory()
    _ask(_FILES, memory)
    runs.clear()
    _ask(_FILES | {"net/__init__.py": _NET}, memory)
    assert "train.py" in runs
    assert "other.py" not in runs


def test_the_answer_to_an_edit_is_the_one_of_a_fresh_analysis() -> None:
    memory = Memory()
    edited = _FILES | {"train.py": _TRAIN.replace(b"    loss.backward()", b"    optimizer.zero_grad()\n    loss.backward()")}
    _ask(_FILES, memory)
    assert _ask(edited, memory) == _ask(edited, Memory())
    assert _ask(_FILES, memory) == _ask(_FILES, Memory())
