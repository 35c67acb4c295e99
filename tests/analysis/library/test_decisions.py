"""Open conditions: a run neither ends early nor stays out of its loop because of one."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.domain import World
from analysis.library.entries import Entry
from analysis.library.running import run
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

PROGRAM = """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--most", type=int)
args = parser.parse_args()
net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters())

class Progress:
    steps = 0
    done = False

progress = Progress()
{loop}:
    for x in torch.utils.data.DataLoader([1]):
        net(x).sum().backward()
        opt.step()
        progress.steps += 1
        {check}
    if progress.done:
        break
"""


def steps(loop: str, check: str, *, flags: bool) -> int:
    snapshot = Snapshot.of({"train.py": PROGRAM.format(loop=loop, check=check).encode()})
    ended = run(snapshot, index(snapshot), Entry("train.py"), World(flags=flags))
    assert ended is not None
    return sum(1 for _ in ended.trace(snapshot, Entry("train.py")).events(Kind.STEP))


@pytest.mark.parametrize("flags", [True, False])
def test_a_loop_up_to_an_unknown_bound_is_entered(flags):
    assert steps("while progress.steps < args.most", "pass", flags=flags) > 1


@pytest.mark.parametrize("flags", [True, False])
def test_an_unknown_end_is_not_reached_at_the_first_step(flags):
    assert steps("while True", "if progress.steps >= args.most: progress.done = True", flags=flags) > 1
    assert steps("while True", "if progress.steps >= args.most: break", flags=flags) > 1


EVALUATES = """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--eval-only", action="store_true")
args = parser.parse_args()
net = torch.nn.Linear(1, 1)

def train():
    net.train()

def main():
    {body}

main()
"""
BODIES = (
    "if args.eval_only:\n        return net.eval()\n    train()",
    "if args.eval_only:\n        net.eval()\n    else:\n        train()",
    "if not args.eval_only:\n        train()\n    else:\n        net.eval()",
)


@pytest.mark.parametrize("body", BODIES)
def test_ranks_train_whatever_the_flags(body):
    snapshot = Snapshot.of({"train.py": EVALUATES.format(body=body).encode()})
    for world, kind in ((World(distributed=True), Kind.TRAIN_MODE), (World(), Kind.EVAL_MODE), (World(flags=False), Kind.TRAIN_MODE)):
        ended = run(snapshot, index(snapshot), Entry("train.py"), world)
        assert ended is not None
        assert [event.kind for event in ended.trace(snapshot, Entry("train.py")).events(Kind.TRAIN_MODE, Kind.EVAL_MODE)] == [kind]


CHOOSES = """
import argparse
import enum
import torch

class Kind(enum.Enum):
    A = "a"
    B = "b"

parser = argparse.ArgumentParser()
parser.add_argument("--kind", type=Kind)
kind = parser.parse_args().kind
net = torch.nn.Linear(1, 1)
{chosen}
opt.step()
"""
CHOICES = (
    "match kind:\n    case Kind.A: opt = torch.optim.SGD(net.parameters())\n    case Kind.B: opt = torch.optim.Adam(net.parameters())",
    "if kind == Kind.A: opt = torch.optim.SGD(net.parameters())\nelif kind == Kind.B: opt = torch.optim.Adam(net.parameters())",
    "if kind is Kind.A: opt = torch.optim.SGD(net.parameters())\nelif kind is Kind.B: opt = torch.optim.Adam(net.parameters())",
)


@pytest.mark.parametrize("chosen", CHOICES)
def test_a_choice_among_members_is_the_same_everywhere_in_a_run(chosen):
    snapshot = Snapshot.of({"train.py": CHOOSES.format(chosen=chosen).encode()})
    for world, name in ((World(), "SGD"), (World(flags=False), "Adam")):
        ended = run(snapshot, index(snapshot), Entry("train.py"), world)
        assert ended is not None
        assert [event.subject.cls.name for event in ended.trace(snapshot, Entry("train.py")).events(Kind.STEP)] == [name]


RESUMED = """
import json
import os
import torch

net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters())

def train():
    steps = json.load(open(os.environ["STATE"]))["steps"]
    for epoch in range(3):
        for x in torch.utils.data.DataLoader([1]):
            net(x).sum().backward()
            opt.step()
            steps += 1
            if steps % 1000 == 0 or steps >= 5000:
                torch.save(net.state_dict(), "net.pt")
            if steps >= 5000:
                return steps

train()
"""


@pytest.mark.parametrize("flags", [True, False])
def test_a_count_that_goes_on_from_a_checkpoint_is_not_at_its_end(flags):
    snapshot = Snapshot.of({"train.py": RESUMED.encode()})
    ended = run(snapshot, index(snapshot), Entry("train.py"), World(flags=flags))
    assert ended is not None
    assert sum(1 for _ in ended.trace(snapshot, Entry("train.py")).events(Kind.STEP)) > 1


SWITCHED = """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--check", action="store_true")
parser.add_argument("--quick", action="store_true")
args = parser.parse_args()
net = torch.nn.Linear(1, 1)
{before}
if {condition}:
    net.eval()
"""


@pytest.mark.parametrize("condition", ["args.check and not args.quick", "not args.quick and args.check", "args.check and not args.quick and net is not None"])
@pytest.mark.parametrize(("before", "flags", "evaluated"), [("", True, True), ("", False, False), ("if args.quick: print(net)", True, False)])
def test_what_only_turns_something_off_is_off_where_the_others_are_on(condition, before, flags, evaluated):
    snapshot = Snapshot.of({"train.py": SWITCHED.format(condition=condition, before=before).encode()})
    ended = run(snapshot, index(snapshot), Entry("train.py"), World(flags=flags))
    assert ended is not None
    assert any(True for _ in ended.trace(snapshot, Entry("train.py")).events(Kind.EVAL_MODE)) is evaluated
