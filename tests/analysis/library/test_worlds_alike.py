"""A program that never asks whether it has several ranks runs once for both worlds, and says in each what it would."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.index import index
from analysis.library import program
from analysis.library.domain import World
from analysis.library.program import trace_program
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

ALONE = """\
import torch
import torch.distributed

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.zeros(1, 2)).sum().backward()
    optimizer.step()
"""


SERVING = """import argparse
import torch

if __name__ == "__main__":
    options = argparse.ArgumentParser().parse_args()
    if options.seeded:
        torch.manual_seed(0)
    else:
        {elsewhere}
"""


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[World]:
    """The worlds that were run, in order."""
    worlds: list[World] = []
    original = program.run

    def counted(*settings: object) -> object:
        worlds.append(next(each for each in settings if isinstance(each, World)))
        return original(*settings)  # type: ignore[arg-type]

    monkeypatch.setattr(program, "run", counted)
    return worlds


@pytest.mark.parametrize(("elsewhere", "runs"), [("print('serving')", 1), ("torch.nn.Linear(2, 2)(torch.zeros(1, 2))", 3)])
def test_a_program_in_which_nothing_happens_on_either_side_runs_once(ran: list[World], elsewhere: str, runs: int) -> None:
    snapshot = Snapshot.of({"serve.py": SERVING.format(elsewhere=elsewhere).encode()})
    traces = list(trace_program(snapshot, index(snapshot), {"serve.py"}))
    assert len(ran) == runs
    assert any(True for trace in traces for _ in trace.events(Kind.SEED))


@pytest.mark.parametrize(
    ("source", "asked"),
    [
        pytest.param(ALONE, False, id="asks nothing"),
        pytest.param(ALONE + "print(torch.distributed.get_rank())\n", True, id="its rank"),
        pytest.param("import os\n" + ALONE + "print(os.environ['WORLD_SIZE'])\n", True, id="how many there are"),
        pytest.param("import time\n" + ALONE + "if time.time() > 10:\n    model.eval()\n", True, id="the time"),
    ],
)
def test_both_worlds_are_traced(ran: list[World], source: str, *, asked: bool) -> None:
    snapshot = Snapshot.of({"train.py": source.encode()})
    traces = list(trace_program(snapshot, index(snapshot), {"train.py"}))
    assert sum(world.distributed for world in ran) == asked
    assert [trace.distributed for trace in traces][:2] == [False, True]
    assert {len(list(trace.events(Kind.STEP))) for trace in traces} == {3}


def test_whoever_asks_for_ranks_is_noticed() -> None:
    files = Path(program.__file__).parent.rglob("*.py")
    assert {file.name for file in files if "world.distributed" in file.read_text(encoding="utf-8")} == {"domain.py", "prelude.py", "program.py", "running.py"}
