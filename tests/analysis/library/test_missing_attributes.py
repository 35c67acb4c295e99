"""An attribute that a class's own ``__getattr__`` does not find: programs that nobody would start do not end there."""

import pytest

from analysis.index import index
from analysis.library.program import trace_program
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

PROGRAM = """
import argparse
import torch
from elsewhere import add_options

class Options(dict):
    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

def main():
    parser = argparse.ArgumentParser()
    add_options(parser)
    options = Options()
    options.update(vars(parser.parse_args()))
    net = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    {reading}
    for x in torch.utils.data.DataLoader([1]):
        net(x).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    main()
"""
PASSED_ON = """
    try:
        print(options.folder)
    except AttributeError:
        print("no folder")
        raise
"""
CAUGHT = """
    try:
        net = options.net
    except AttributeError:
        net.eval()
"""


@pytest.mark.parametrize("reading", ["print(options.folder)", PASSED_ON])
def test_what_nobody_would_catch_was_set_by_something_that_was_not_followed(reading: str):
    assert Kind.STEP in _kinds(PROGRAM.format(reading=reading.strip()))


@pytest.mark.parametrize("reading", [CAUGHT, "net = getattr(options, 'net', None) or net.eval()"])
def test_what_is_caught_is_absent(reading: str):
    kinds = _kinds(PROGRAM.format(reading=reading.strip()))
    assert Kind.EVAL_MODE in kinds
    assert Kind.STEP in kinds


def _kinds(program: str) -> set[Kind]:
    snapshot = Snapshot.of({"train.py": program.encode()})
    (trace, *_) = trace_program(snapshot, index(snapshot), ["train.py"])
    return {event.kind for event in trace.events(*Kind)}
