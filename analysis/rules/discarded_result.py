"""An operation that changes nothing in place is called for an effect.

`F.dropout(x)`, `x.detach()`, `p.data.clamp(-c, c)` return a new tensor and leave their argument as it was. As a statement of its own such a
call does nothing: no dropout, no cut, no limit. So do the methods of the data sets of `datasets`: `dataset.shuffle(seed=0)` on a line of its own
shuffles nothing.

**How to fix it.** Keep the result, `x = x.detach()`, or call the version that works in place, `p.data.clamp_(-c, c)`.

**What is not reported.** In-place versions (`detach_`, `inplace=True`); a forward or a matrix product that is run to warm up or to measure;
`map` with a function that returns nothing; the last expression of a notebook's cell, which is shown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, Reported, WrapExpression
from analysis.library.data_tables import is_table
from analysis.library.opaque import UNFOLLOWED
from analysis.library.tensor import Made, Tensor
from analysis.rule import Bad, Good, Rule
from analysis.rules._chains import UNBOUNDED
from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.reading import call_at, dotted, receiver, text

_FUNCTIONS = """
dropout dropout1d dropout2d dropout3d alpha_dropout detach clamp clip clamp_min clamp_max view reshape flatten squeeze unsqueeze permute transpose
contiguous float half double long int bool type masked_fill normalize relu leaky_relu gelu tanh sigmoid softmax log_softmax clone fill zero
where cat stack masked_scatter scatter scatter_add index_add index_copy index_fill nan_to_num tril triu
"""
#: What nobody calls to warm up or to measure.
_WITHOUT_EFFECT = frozenset(_FUNCTIONS.split())
_ARITHMETIC = frozenset({"add", "sub", "mul", "div", "pow"})


def check(trace: Trace) -> Iterator[Reported]:
    """Statements that make a tensor, or a table of data, and keep nothing."""
    told: set[Span] = set()
    for event in trace.events(Kind.DISCARD):  # where the callee is unknown, another object's method of that name may have an effect
        made, span = event.value.made if isinstance(event.value, Tensor) else None, event.span
        call = call_at(trace.snapshot, span) if span not in told and span.path in trace.snapshot.contents else None
        if call is None or any(keyword.arg == "out" for keyword in call.keywords) or _is_shown(trace, span):  # a name that a notebook shows is no call
            continue
        if made is None:
            if is_table(event.subject, event.detail) and _gives_something(trace, span, call):
                told.add(span)
                yield _reported_table(trace, event)
        elif "callee" not in made.options and not _is_of_an_object(made) and (_is_without_effect(made) or _is_arithmetic(made)):
            told.add(span)
            yield _reported(trace, span, made)


def _is_without_effect(made: Made) -> bool:
    return made.op in _WITHOUT_EFFECT and made.options.get("inplace") is not True


def _is_of_an_object(made: Made) -> bool:
    """Whether what it is a method of was made by a class that is not known: whether it works in place is for that class to say."""
    first = made.inputs[0] if made.inputs else None
    while isinstance(first, Tensor) and first.made is not None and first.made.op == "getitem":
        first = first.made.inputs[0]
    return isinstance(first, Tensor) and first.made is not None and UNFOLLOWED in first.made.options and first.made.op[:1].isupper()


def _is_shown(trace: Trace, span: Span) -> bool:
    """Whether it is the last expression of a cell, whose value the notebook shows."""
    source = trace.snapshot.source(span.path)
    cell = source.cell_of(span.start) if isinstance(source, SourceFile) else None
    if cell is None or not isinstance(source, SourceFile):
        return False
    last = next((node for node in reversed(source.tree.body) if source.cell_of(source.span(node).start) == cell), None)
    return isinstance(last, ast.Expr) and source.span(last.value) == span


def _gives_something(trace: Trace, span: Span, call: ast.Call) -> bool:
    """Whether the function that goes over the rows, if there is one, is seen to return something: one that does not is called for what else it does."""
    source = trace.snapshot.source(span.path)
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "function"), call.args[0] if call.args else None)
    match call.func, given:
        case ast.Attribute(attr="map" | "filter"), ast.Name(id=name) | ast.Attribute(attr=name) if isinstance(source, SourceFile):
            bodies = [node for node in walk(source.tree) if isinstance(node, ast.FunctionDef) and node.name == name]
            return any(isinstance(node, ast.Return) and node.value is not None for body in bodies for node in walk(body))
    return True


def _is_arithmetic(made: Made) -> bool:
    """Whether it is a method like ``x.add(y)`` of what a layer gave."""
    first = made.inputs[0] if made.inputs else None
    layer = first.made if isinstance(first, Tensor) and first.attached else None
    return made.op in _ARITHMETIC and layer is not None and layer.op in UNBOUNDED | {"embedding"}


def _reported(trace: Trace, span: Span, made: Made) -> Reported:
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH,
        span,
        f"`{text(trace.snapshot, span)}` returns a new tensor that nothing keeps: {made.op} leaves its argument as it was, and the call has no effect",
        (Evidence(span, "the result of the call is dropped"),),
    )
    name = _argument(trace, span, made)
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


def _argument(trace: Trace, span: Span, made: Made) -> str | None:
    """``x`` of ``x.detach()`` and of ``F.dropout(x)``, if it can be assigned to."""
    call = call_at(trace.snapshot, span)
    if call is None:
        return None
    if len(made.inputs) > len(call.args) and isinstance(call.func, ast.Attribute):  # a method: its receiver is the first input
        owner = call.func.value
        own = isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name) and owner.value.id == "self" and call.func.attr not in {"clamp", "clip"}
        return dotted(owner) if isinstance(owner, ast.Name) or own else None
    first = call.args[0] if call.args else None
    return first.id if isinstance(first, ast.Name) else None


_SHIFTED = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.one(x)
        {kept}y.add(x){mark}
        return self.two(y)

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader([torch.zeros(4)] * 8):
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
"""
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
        Bad(_SHIFTED.format(kept="", mark="  # flagged"), fixed=_SHIFTED.format(kept="y = ", mark="")),
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
        Good(
            """
import torch
from audiotools import AudioSignal

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        signal = AudioSignal(torch.cat([x, x]), 16000)
        signal.normalize(-16)
        model(signal.audio_data).mean().backward()
        optimizer.step()
"""
        ),
    ),
)
