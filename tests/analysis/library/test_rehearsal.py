"""How often loops run, and what becomes of windows too large to rehearse."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.entries import Entry
from analysis.library.rehearsal import FEW, SHORT, Horizon
from analysis.library.running import Run, run
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind
from analysis.trace.tree import Loop


def ended(code: str, **options) -> Run:
    snapshot = Snapshot.of({"train.py": code.encode()})
    found = run(snapshot, index(snapshot), Entry("train.py"), **options)
    assert found is not None
    assert found.complete
    return found


def count(found: Run, kind: Kind) -> int:
    return len(list(found.trace(Snapshot.of({}), Entry("train.py")).events(kind)))


TRAINING = """
import torch
net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range({rounds}):
    net(torch.zeros(1, 1)).sum().backward()
    if (i + 1) % {window} == 0:
        opt.step()
"""


@pytest.mark.parametrize(("window", "steps"), [(1, 11), (4, 2), (10, 1), (128, 3)])
def test_steps_happen_as_often_as_the_window_lets_them(window: int, steps: int):
    found = ended(TRAINING.format(rounds=1000, window=window), horizon=Horizon(11))
    assert count(found, Kind.BACKWARD) == 11
    assert count(found, Kind.STEP) == steps


COUNTING = """
import torch
net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
seen = 0
for i in range(1000):
    seen += 1
    net(torch.zeros(1, 1)).sum().backward()
    {rest}
"""


@pytest.mark.parametrize(
    ("rest", "rounds"),
    [
        ("opt.step()", 5),
        ("if i % 7 == 0:\n        opt.step()", 17),
        ("if i % 700 == 0:\n        opt.step()", 9),
        ("if i % 7 == 0:\n        print(i)", 5),
        ("if i > 5_000:\n        opt.step()", 7),
        ("if i % 7 == 0:\n        continue\n    opt.step()", 17),
        ("if seen == 7:\n        opt.step()\n        seen = 0", 17),
        ("if seen >= 7:\n        opt.step()\n        seen = 0", 17),
    ],
)
def test_two_windows_and_a_tail_are_rehearsed(rest: str, rounds: int):
    short = ended(COUNTING.format(rest=rest), horizon=SHORT)
    assert Horizon.for_window(short.domain.rehearsal.window).rounds == rounds


def test_a_window_of_epochs_makes_the_loop_over_batches_no_longer():
    code = COUNTING.replace("for i in range(1000):", "for epoch in range(90):\n  if epoch % 12 == 0:\n    opt.zero_grad()\n  for i in range(1000):")
    found = ended(code.replace("    seen += 1\n    net", "    net").format(rest="opt.step()"), horizon=SHORT)
    assert found.domain.rehearsal.window == 0


def test_a_window_that_was_seen_widens_the_horizon():
    found = ended(TRAINING.format(rounds=1000, window=12))
    assert found.domain.rehearsal.window == 12
    wide = Horizon.for_window(found.domain.rehearsal.window)
    assert count(ended(TRAINING.format(rounds=1000, window=12), horizon=wide), Kind.STEP) == 2


def test_a_short_loop_runs_to_its_end():
    found = ended(TRAINING.format(rounds=7, window=1))
    assert count(found, Kind.STEP) == 7
    assert all(loop.complete for loop in found.machine.tree.root.children if isinstance(loop, Loop))


def test_a_loop_around_training_and_an_evaluation_run_a_few_rounds():
    found = ended(
        """
import torch
net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(90):
    net.train()
    for i in range(500):
        net(torch.zeros(1, 1)).sum().backward()
        opt.step()
    net.eval()
    for i in range(500):
        net(torch.zeros(1, 1)).sum()
"""
    )
    assert count(found, Kind.TRAIN_MODE) == FEW
    assert count(found, Kind.STEP) == FEW * Horizon().rounds
    assert count(found, Kind.FORWARD) == FEW * (Horizon().rounds + FEW)


def test_known_content_runs_to_its_end():
    found = ended(
        """
import torch
blocks = torch.nn.ModuleList([torch.nn.Linear(1, 1) for _ in range(24)])
seen = 0
x = torch.zeros(1, 1)
for block in blocks:
    seen += 1
assert seen == 24
torch.manual_seed(seen)
"""
    )
    assert [event.value for event in found.trace(Snapshot.of({}), Entry("train.py")).events(Kind.SEED)] == [24]


def test_arithmetic_outside_counters_is_left_alone():
    found = ended("import torch\nfor i in range(2):\n    torch.manual_seed(768 % 100)\n")
    assert {event.value for event in found.trace(Snapshot.of({}), Entry("train.py")).events(Kind.SEED)} == {68}


COUNTED = """
import torch
import progress_of
net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
progress = progress_of.make()

def advance(progress):
    progress.{counted} += 1

for x in torch.utils.data.DataLoader([1]):
    net(x).sum().backward()
    if (progress.step + 1) % progress.window == 0:
        opt.step()
"""


def test_what_an_unknown_object_counts_goes_with_the_loop():
    assert count(ended(COUNTED.format(counted="step"), horizon=Horizon(11)), Kind.STEP) == 3
    assert count(ended(COUNTED.format(counted="other"), horizon=Horizon(11)), Kind.STEP) == 0


def test_a_short_run_comes_to_the_end_of_a_window():
    assert count(ended(TRAINING.format(rounds=11, window=4), horizon=Horizon(FEW)), Kind.STEP) == 1


def test_what_happens_every_few_epochs_is_come_to():
    epochs = (
        "import argparse\nimport torch\nparser = argparse.ArgumentParser()\nparser.add_argument('--every', type=int)\nargs = parser.parse_args()\n"
        """
net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(100):
    for x in torch.utils.data.DataLoader([1]):
        net(x).sum().backward()
        opt.step()
    if (epoch + 1) % {every} == 0:
        net.eval()
"""
    )
    for every in ("args.every", "5", "50"):
        assert count(ended(epochs.format(every=every)), Kind.EVAL_MODE) == 1


def test_a_counter_that_goes_on_from_a_checkpoint_is_rehearsed_from_the_beginning():
    found = ended(
        """
import torch
net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
step = torch.load("last.pt")["step"]
for x in torch.utils.data.DataLoader([1]):
    net(x).sum().backward()
    step += 1
    if step % 4 == 0:
        opt.step()
""",
        horizon=Horizon(11),
    )
    assert count(found, Kind.STEP) == 2
