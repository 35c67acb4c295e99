"""Models that a setting names."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.domain import World
from analysis.library.entries import Entry
from analysis.library.running import run
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

MODEL = "import torch\nclass Part(torch.nn.Module): ...\nclass {name}(torch.nn.Module): ...\nclass More(torch.nn.Module): ...\n"
TRAIN = """
import importlib
import sys

name = sys.stdin.readline()
module = importlib.import_module({module})
model = getattr(module, name)()
model.train()
"""


def snapshot_of(module: str) -> Snapshot:
    files = {"models/net_a.py": MODEL.format(name="NetA"), "models/net_b.py": MODEL.format(name="NetB"), "models/tools.py": "import torch\n"}
    return Snapshot.of({name: text.encode() for name, text in {**files, "train.py": "import torch" + TRAIN.format(module=module)}.items()})


@pytest.mark.parametrize("module", ["'models.' + name.lower()", "f'models.{name}'"])
def test_one_of_the_models_of_the_package_is_taken(module):
    snapshot = snapshot_of(module)
    for flags, name in ((True, "NetA"), (False, "NetB")):
        ended = run(snapshot, index(snapshot), Entry("train.py"), World(flags=flags))
        assert ended is not None
        assert [event.subject.cls.name for event in ended.trace(snapshot, Entry("train.py")).events(Kind.TRAIN_MODE)] == [name]


@pytest.mark.parametrize("module", ["'models.' + name.lower()", "f'models.{name}'", "'models.net_b'"])
def test_a_change_to_one_of_them_touches_the_program(module):
    assert "train.py" in index(snapshot_of(module)).reaching(["models/net_b.py"])
