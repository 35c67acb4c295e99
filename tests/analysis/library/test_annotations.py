"""Arguments that nobody passes are containers of what their annotations name."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.program import trace_program
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

PROGRAM = """
from typing import Dict, Iterable, List, Optional, Tuple
import torch
from torch import nn
from torch.utils.data import DataLoader

def fit(given: {annotation}):
    for part in {parts}:
        part.eval()
        torch.optim.SGD(part.parameters(), lr=0.1).step()
"""


@pytest.mark.parametrize(("annotation", "parts"), [
    ("List[nn.Module]", "given"),
    ("list[torch.nn.Module] | None", "given"),
    ("Optional[Iterable[nn.Module]]", "list(given)"),
    ("'List[nn.Module]'", "given"),
    ("Iterable[Tuple[DataLoader, nn.Module]]", "[model for loader, model in given]"),
    ("Dict[str, nn.Module]", "given.values()"),
    ("Tuple[nn.Module, ...]", "given"),
])  # fmt: skip
def test_the_items_are_models(annotation, parts):
    snapshot = Snapshot.of({"train.py": PROGRAM.format(annotation=annotation, parts=parts).encode()})
    (trace,) = trace_program(snapshot, index(snapshot), ["train.py"])
    assert {event.subject.cls.name for event in trace.events(Kind.EVAL_MODE)} == {"Model"}
    assert not trace.unresolved


OWN = """
from typing import List, Optional
import torch
from nets import Net

def fit(net: Net, others: List[Net], spare: Optional[Net]):
    for each in [net, *others, spare]:
        each.eval()
"""


def test_a_class_of_the_program_is_a_model_too():
    nets = b"import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
    snapshot = Snapshot.of({"train.py": OWN.encode(), "nets.py": nets})
    (trace,) = trace_program(snapshot, index(snapshot), ["train.py"])
    assert [event.subject.cls.name for event in trace.events(Kind.EVAL_MODE)] == ["Model"] * 4
