"""A program that ends in an exception before it trains is run again with the flag turned round that was asked for last."""

from __future__ import annotations

from analysis.index import index
from analysis.library.program import trace_program
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

PROGRAM = """
import argparse
import torch

def check(args):
    if args.kind == "fast":
        version = "1.0"
        if version < "2.0":
            raise RuntimeError("too old for that")

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind")
    parser.add_argument("--steps", type=int)
    args = parser.parse_args()
    if args.steps:
        print("steps", args.steps)
    try:
        check(args)
    except Exception:
        print("cannot go on")
        raise
    net = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader([1]):
        net(x).sum().backward()
        optimizer.step()
        {end}

if __name__ == "__main__":
    main()
"""


def stepped(end: str) -> list[int]:
    snapshot = Snapshot.of({"train.py": PROGRAM.format(end=end).encode()})
    return [len(list(trace.events(Kind.STEP))) for trace in trace_program(snapshot, index(snapshot), ["train.py"])]


def test_the_other_side_goes_on():
    found = stepped("pass")
    assert found
    assert all(found)


def test_an_exception_after_training_is_the_end():
    assert stepped("raise SystemExit") == [1, 1]
