"""A tensor is moved, and the moved copy is dropped.

`x.to(device)` and `x.cuda()` leave a tensor where it is and return a copy. As a statement of its own the call does nothing; the next operation
mixes devices and fails, or goes on in the old type. (A module is different: its `.to()` moves the module itself.)

**How to fix it.** Keep the result: `x = x.to(device)`.

**What is not reported.** Modules; a tensor that the statement itself makes, to wake the device; whole batches of a loader, which may be objects that
move themselves; values of unknown type.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, Reported, WrapExpression
from analysis.interpreter.values import Instance
from analysis.library.opaque import UNFOLLOWED
from analysis.library.tensor import Made, Tensor
from analysis.rule import Bad, Good, Rule
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Kind
from analysis.trace.reading import receiver, text

#: What ``Tensor.to`` and its kind can be told by name.
_OPTIONS = frozenset({"device", "dtype", "non_blocking", "copy", "memory_format", "other"})

#: Names of what gives encodings, which are no tensors.
_ENCODES = re.compile("token|process|extract|collat", re.IGNORECASE)
#: Operations that take a part of what they are given.
_PARTS = frozenset({"getitem", "attribute", "values", "items", "modules", "named_modules", "children", "named_children"})


def check(trace: Trace) -> Iterator[Reported]:
    """Statements that move a tensor and keep nothing."""
    told: set[Span] = set()
    for event in trace.events(Kind.DISCARD):
        made = event.value.made if isinstance(event.value, Tensor) else None
        span = event.span
        if made is None or made.op != "to" or span in told or span.path not in trace.snapshot.contents:
            continue
        if not _may_be_object(made) and not _is_fresh(made, span):
            told.add(span)
            yield _reported(trace, span, made)


def _may_be_object(made: Made) -> bool:
    """Whether what is moved is a batch of unknown structure, or a part of one that the program puts together itself, or takes what no tensor does.

    So may be what something unknown gives: a tokenizer's encodings move in place.
    """
    moved = part = _moved(made)
    while part is not None and part.op in _PARTS:
        part = _moved(part)
    waits = any(isinstance(each, str) and each == "cpu" for each in made.inputs)  # who waits for the device, or measures, drops what comes back
    if waits or not made.options.keys() <= _OPTIONS or (part is not None and (UNFOLLOWED in part.options or _ENCODES.search(part.op))):
        return True
    loader = part.options.get("loader") if part is not None and part.op == "batch" else None
    collated = isinstance(loader, Instance) and loader.fields.get("collate_fn") is not None
    return collated or (moved is not None and moved.op == "batch" and moved.options.get("whole", True) is not False)


def _is_fresh(made: Made, statement: Span) -> bool:
    """Whether the statement itself makes what it moves: nobody has the tensor, and who writes so wants the device to be awake."""
    inputs = [each.made for each in made.inputs if isinstance(each, Tensor)]
    return all(each is not None and statement.holds(each.span) and _is_fresh(each, statement) for each in inputs)


def _moved(made: Made) -> Made | None:
    """The operation that made the first input."""
    first = made.inputs[0] if made.inputs else None
    return first.made if isinstance(first, Tensor) else None


def _reported(trace: Trace, span: Span, made: Made) -> Reported:
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM if (moved := _moved(made)) is not None and moved.op in _PARTS else Confidence.HIGH,
        span,
        f"`{text(trace.snapshot, span)}` returns a moved copy that nothing keeps: the tensor itself stays where it is",
        (Evidence(span, "the result of the call is dropped"),),
    )
    name = receiver(trace.snapshot, span)
    if name is None or not isinstance(ast.parse(name, mode="eval").body, (ast.Name, ast.Attribute)):
        return Reported(replace(finding, no_fix_because="what is moved has no name to keep the copy under"))
    return Reported(finding, Proposal(f"Keep the moved copy: {name} = …", Safety.SAFE, (WrapExpression(span, before=f"{name} = "),)))


RULE = Rule(
    "discarded-move",
    Severity.ERROR,
    "a tensor is moved, and the moved copy is dropped",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch
from torch.utils.data import DataLoader

def train(net, dataset):
    net.cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for clip, species in DataLoader(dataset):
        clip.cuda()  # flagged
        species = species.cuda()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(clip), species).backward()
        optimizer.step()
""",
            fixed="""
import torch
from torch.utils.data import DataLoader

def train(net, dataset):
    net.cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for clip, species in DataLoader(dataset):
        clip = clip.cuda()
        species = species.cuda()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(clip), species).backward()
        optimizer.step()
""",
        ),
        Good(
            """
import torch
from torch.utils.data import DataLoader

def train(net, graphs):
    net.to("cuda")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for graph in DataLoader(graphs):
        graph.to("cuda")
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(graph.x), graph.y).backward()
        optimizer.step()
"""
        ),
        Good(
            """
from torch.utils.data import DataLoader

def store(data):
    for sentences in DataLoader(data):
        for sentence in sentences:
            sentence.to("cpu", pin_memory=True)

store([1])
"""
        ),
        Good(
            """
import torch

def train(net, loader, device):
    net.to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
"""
        ),
    ),
)
