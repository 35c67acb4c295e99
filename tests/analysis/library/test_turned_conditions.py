"""A side that only ends the program is not taken, however often its condition is turned round."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.domain import World
from analysis.library.entries import Entry
from analysis.library.running import run
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

PROGRAM = """
import importlib.util
import torch

found = {found}
if {test}:
    raise ImportError("not installed")
torch.nn.Linear(1, 1).eval()
"""


@pytest.mark.parametrize("flags", [True, False])
@pytest.mark.parametrize(("found", "test"), [
    ("importlib.util.find_spec('x') is not None", "not found"),
    ("importlib.util.find_spec('x') is not None", "not (not (not found))"),
    ("importlib.util.find_spec('x') is None", "found"),
    ("not importlib.util.find_spec('x')", "found"),
    ("importlib.util.find_spec('x')", "not found"),
])  # fmt: skip
def test_a_package_that_is_asked_for_is_there(found, test, flags):
    snapshot = Snapshot.of({"train.py": PROGRAM.format(found=found, test=test).encode()})
    ended = run(snapshot, index(snapshot), Entry("train.py"), World(flags=flags))
    assert ended is not None
    assert any(ended.trace(snapshot, Entry("train.py")).events(Kind.EVAL_MODE))
