"""An operation that changes nothing in place is called for an effect.

`F.dropout(x)`, `x.detach()`, `p.data.clamp(-c, c)` return a new tensor and leave their argument as it was. As a statement of its own such a
call does nothing: no dropout, no cut, no limit. So do the methods of the data sets of `datasets`: `dataset.shuffle(seed=0)` on a line of its own
shuffles nothing.

**How to fix it.** Keep the result, `x = x.detach()`, or call the version that works in place, `p.data.clamp_(-c, c)`.

**What is not reported.** In-place versions (`detach_`, `inplace=True`); a forward or a matrix product that is run to warm up or to measure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, Reported, WrapExpression
from analysis.library.data_tables import is_table
from analysis.library.tensor import Made, Tensor
from analysis.rule import Bad, Good, Rule
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.reading import call_at, dotted, receiver, text

#: What nobody calls to warm up or to measure.
_WITHOUT_EFFECT = frozenset(
    [
        "dropout",
        "dropout1d",
        "dropout2d",
        "dropout3d",
        "alpha_dropout",
        "detach",
        "clamp",
        "clip",
        "clamp_min",
        "clamp_max",
        "view",
        "reshape",
        "flatten",
        "squeeze",
        "unsqueeze",
        "permute",
        "transpose",
        "contiguous",
        "float",
        "half",
        "double",
        "long",
        "int",
        "bool",
        "type",
        "masked_fill",
        "normalize",
        "relu",
        "leaky_relu",
        "gelu",
        "tanh",
        "sigmoid",
        "softmax",
        "log_softmax",
        "clone",
        "fill",
        "zero",
    ]
)


def check(trace: Trace) -> Iterator[Reported]:
    """Statements that make a tensor, or a table of data, and keep nothing."""
    told: set[Span] = set()
    for event in trace.events(Kind.DISCARD):
        made, span = event.value.made if isinstance(event.value, Tensor) else None, event.span
        if span in told or span.path not in trace.snapshot.contents or call_at(trace.snapshot, span) is None:  # a name that a notebook shows is no call
            continue
        if made is None:
            if is_table(event.subject, event.detail):
                told.add(span)
                yield _reported_table(trace, event)
        elif made.op in _WITHOUT_EFFECT and made.options.get("inplace") is not True:
            told.add(span)
            yield _reported(trace, span, made)


def _reported(trace: Trace, span: Span, made: Made) -> Reported:
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH,
        span,
        f"`{text(trace.snapshot, span)}` returns a new tensor that nothing keeps: {made.op} leaves its argument as it was, and the call has no effect",
        (Evidence(span, "the result of the call is dropped"),),
    )
    name = _argument(trace, span)
    if name is None:
        return Reported(replace(finding, no_fix_because="its argument has no plain name: keep the result, or call the version that works in place"))
    return Reported(finding, Proposal(f"Keep the result: {name} = …", Safety.SAFE, (WrapExpression(span, before=f"{name} = "),)))


def _reported_table(trace: Trace, event: Event) -> Reported:
    span = event.span
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM,
        span,
        f"`{text(trace.snapshot, span)}` returns a new data set that nothing keeps: {event.detail} leaves the old one as it was, and the call has no effect",
        (Evidence(span, "the result of the call is dropped"),),
    )
    name = receiver(trace.snapshot, span)
    if name is None:
        return Reported(replace(finding, no_fix_because="the data set has no plain name: keep the result"))
    return Reported(finding, Proposal(f"Keep the result: {name} = …", Safety.SAFE, (WrapExpression(span, before=f"{name} = "),)))


def _argument(trace: Trace, span: Span) -> str | None:
    """``x`` of ``x.detach()`` and of ``F.dropout(x)``, if it can be assigned to."""
    match call_at(trace.snapshot, span):
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=[]):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name()) | ast.Name(), args=[ast.Name(id=name), *_]):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=[ast.Constant() | ast.UnaryOp(), *_]):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Attribute() as owner, attr=method)) if (
            method not in {"clamp", "clip"} and isinstance(owner.value, ast.Name) and owner.value.id == "self"
        ):
            return dotted(owner)
        case _:
            return None


_TABLE = """
import torch
from datasets import load_dataset

data = load_dataset("x", split="train")
{kept}data.shuffle(seed=0){mark}
data.set_format("torch")
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for row in torch.utils.data.DataLoader(data, batch_size=8):
    optimizer.zero_grad()
    net(row["x"]).mean().backward()
    optimizer.step()
"""

RULE = Rule(
    "discarded-result",
    Severity.ERROR,
    "an operation that changes nothing in place is called for an effect",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 8), nn.Linear(8, 1)

    def forward(self, x):
        x = self.body(x)
        F.dropout(x, 0.5, self.training)  # flagged
        return self.head(x)

def train(loader):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(net(x), y).backward()
        optimizer.step()
""",
            fixed="""
import torch
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 8), nn.Linear(8, 1)

    def forward(self, x):
        x = self.body(x)
        x = F.dropout(x, 0.5, self.training)
        return self.head(x)

def train(loader):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(net(x), y).backward()
        optimizer.step()
""",
        ),
        Bad(
            """
import torch

def train(critic, loader):
    optimizer = torch.optim.RMSprop(critic.parameters())
    for real, fake in loader:
        optimizer.zero_grad()
        (critic(fake).mean() - critic(real).mean()).backward()
        optimizer.step()
        for p in critic.parameters():
            p.data.clamp(-0.01, 0.01)  # flagged
"""
        ),
        Bad(_TABLE.format(kept="", mark="  # flagged"), fixed=_TABLE.format(kept="data = ", mark="")),
        Good(_TABLE.format(kept="data = ", mark="")),
        Good(
            """
import torch

def train(critic, loader):
    optimizer = torch.optim.RMSprop(critic.parameters())
    for real, fake in loader:
        fake.detach_()
        optimizer.zero_grad()
        (critic(fake).mean() - critic(real).mean()).backward()
        optimizer.step()
        for p in critic.parameters():
            p.data.clamp_(-0.01, 0.01)
"""
        ),
        Good(
            """
import torch
from torch.nn import functional as F

def measure(model, loader):
    with torch.no_grad():
        for x in loader:
            model(x)
            torch.matmul(x, x)
            F.relu(x, inplace=True)
"""
        ),
    ),
)
