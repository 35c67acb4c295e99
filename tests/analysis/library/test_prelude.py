"""The imports at the top of a program are made once; its runs see nothing of each other."""

from __future__ import annotations

import pytest

from analysis.answers import Memory
from analysis.index import index
from analysis.interpreter.machine import Machine
from analysis.library import prelude
from analysis.library.prelude import Preludes
from analysis.library.program import Tracing
from analysis.library.running import Ran
from analysis.questioning import Questioning
from analysis.rule import discover
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

NETS = """
import torch

NETS = {}
MADE = []

def register(cls):
    NETS[cls.__name__] = cls
    return cls

@register
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.linear(x)
"""
TRAIN = """
import argparse
from package import nets
from package.nets import MADE, NETS

options = argparse.ArgumentParser().parse_args()
MADE.append(1)
net = NETS["Net"]()
optimizer = nets.torch.optim.SGD(net.parameters(), 0.1)
for x in nets.torch.rand(3, 2, 4):
    if options.clear:
        optimizer.zero_grad()
    if len(MADE) == 1:
        net(x).sum().backward()
    optimizer.step()
"""
FILES = {"package/__init__.py": "", "package/nets.py": NETS, "train.py": TRAIN}


@pytest.fixture(autouse=True)
def _everything_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prelude, "_WORTH", 1)


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were loaded, each time that one was."""
    found: list[str] = []
    original = Machine.load

    def load(machine: Machine, path: str, name: str = "") -> object:
        if path not in machine.loaded:
            found.append(path)
        return original(machine, path, name)

    monkeypatch.setattr(Machine, "load", load)
    return found


def _tracing(files: dict[str, str], entries: list[str]) -> Tracing:
    snapshot = Snapshot.of({path: text.encode() for path, text in files.items()})
    built = index(snapshot)
    return Tracing(snapshot, built, entries, preludes=Preludes(built))


def test_modules_are_loaded_once_for_all_worlds(loads: list[str]) -> None:
    tracing = _tracing(FILES, ["train.py"])
    (entry,) = [each for each in tracing.due() if each.path == "train.py"]
    flags = [(trace.flags, len(list(trace.events(Kind.ZERO_GRAD)))) for trace in tracing.traces(entry, Ran())]
    assert [with_flags for with_flags, _ in flags] == [True, False]
    assert flags[0][1] > flags[1][1] == 0
    assert sorted(loads) == ["package/__init__.py", "package/nets.py"]


def test_a_run_sees_nothing_of_the_one_before() -> None:
    tracing = _tracing(FILES, ["train.py"])
    (entry,) = [each for each in tracing.due() if each.path == "train.py"]
    backwards = [len(list(trace.events(Kind.BACKWARD))) for trace in tracing.traces(entry, Ran())]
    assert backwards == [2, 2]  # the list that each run appends to is as long for each


def test_another_entry_begins_where_its_imports_ended(loads: list[str]) -> None:
    files = {**FILES, "more.py": TRAIN}
    tracing = _tracing(files, ["train.py", "more.py"])
    for entry in tracing.due():
        ran = Ran()
        assert all(list(trace.events(Kind.STEP)) for trace in tracing.traces(entry, ran))
        tracing.add(ran, entry)
    assert sorted(loads) == ["package/__init__.py", "package/nets.py"]


def test_an_entry_that_imports_less_does_not(loads: list[str]) -> None:
    less = "from package import NAME\n" + TRAIN.replace("from package import nets\nfrom package.nets import MADE, NETS\n", NETS).replace("nets.torch", "torch")
    tracing = _tracing({**FILES, "zero.py": less}, ["train.py", "zero.py"])
    for entry in [each for each in tracing.due() if not each.qualname]:
        assert all(list(trace.events(Kind.STEP)) for trace in tracing.traces(entry, Ran()))
    assert loads.count("package/nets.py") == 1
    assert loads.count("package/__init__.py") > 1


def test_what_the_imports_read_counts_for_each_entry() -> None:
    rules = [rule for rule in discover() if rule.name == "missing-zero-grad"]
    snapshot = Snapshot.of({path: text.encode() for path, text in {**FILES, "more.py": TRAIN}.items()})
    questioning = Questioning(rules, Memory())
    before = questioning.ask(snapshot, index(snapshot), ["train.py", "more.py"])
    after = snapshot.with_contents({"package/nets.py": NETS.replace("MADE = []", "MADE = [0]").encode()})
    again = questioning.ask(after, index(after), ["train.py", "more.py"])
    assert {path: len(said.reported) for path, said in before.items()} == {"train.py": 1, "more.py": 1}
    assert {path: len(said.reported) for path, said in again.items()} == {"train.py": 0, "more.py": 0}
