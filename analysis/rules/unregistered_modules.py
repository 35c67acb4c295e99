"""Layers in a plain list are not part of the model.

`nn.Module` registers modules that are attributes of their own, and those in `nn.ModuleList`, `nn.ModuleDict` or `nn.Sequential`. Layers and parameters in a
Python list, tuple or dictionary run in the forward, but `parameters()` does not know them: the optimizer never updates them, `to(device)` leaves
them behind, and checkpoints do not hold them.

**How to fix it.** `nn.ModuleList([...])`, `nn.ModuleDict({...})`; `nn.ParameterList` and `nn.ParameterDict` for parameters.

**What is not reported.** Lists of modules that are registered elsewhere too; modules that no loss reaches (a teacher that is hidden on purpose);
parameters that an optimizer was given by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import AddImport, Change, Proposal, Reported, WrapExpression
from analysis.interpreter.values import Instance
from analysis.library.optimizers import parameters_of
from analysis.library.ownership import modules_in
from analysis.library.tensor import Parameter
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import Holdings, confidence_in, distinct, optimizers
from analysis.rules._plain_containers import Plain, parts_in, plain_containers
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import text


def check(trace: Trace) -> Iterator[Reported]:
    """Containers of modules in attributes of a model, whose modules a loss reaches and no optimizer knows.

    Where no program is seen that trains the model, an imagined loop does, with all parameters of the model.
    """
    known = optimizers(trace)
    if not known or not all(parameters_of(optimizer) for optimizer in known):
        return
    holdings = Holdings()
    given = [owner for optimizer in known for owner in parameters_of(optimizer)]
    backwards = list(trace.events(Kind.BACKWARD))
    reached = {id(owner): event for event in reversed(backwards) for owner in event.value.owners}
    told: set[Span] = set()
    for model in distinct(event.subject for event in trace.events(Kind.FORWARD)):
        for held, span in plain_containers(trace.snapshot, model):
            lost = {each: backward for each in parts_in(held) if not holdings.shared([each], given) and (backward := _reaching(each, reached)) is not None}
            if lost and span not in told and not _hidden(trace, known, list(lost), span):
                told.add(span)
                yield _reported(trace, model, held, span, next(iter(lost.values())))


def _reaching(part: Instance | Parameter, reached: Mapping[int, Event]) -> Event | None:
    """A backward that reaches the part, or a layer inside it."""
    inside = modules_in(part) if isinstance(part, Instance) else [part]
    return next((reached[id(each)] for each in inside if id(each) in reached), None)


def _hidden(trace: Trace, known: list[Instance], lost: list[Instance | Parameter], span: Span) -> bool:
    """Whether modules of others, listed by name, were kept out of sight on purpose, for all that the module itself tells."""
    imagined = all(optimizer.span is not None and optimizer.span.path not in trace.snapshot.contents for optimizer in known)
    return imagined and all(isinstance(each, Instance) and each.assumed for each in lost) and text(trace.snapshot, span).strip("[({ })]") != ""


def _reported(trace: Trace, model: Instance, held: Plain, span: Span, backward: Event) -> Reported:
    files = trace.snapshot.contents
    part = "Parameter" if all(isinstance(each, Parameter) for each in parts_in(held)) else "Module"
    kind = f"{part}Dict" if isinstance(held, dict) else f"{part}List"
    layers = "layers" if part == "Module" else "parameters"
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(model),
        span,
        f"`{text(trace.snapshot, span)}` holds {layers} that the model does not register: `parameters()` leaves them out, and no step updates them",
        (
            Evidence(span, f"the {layers} are kept in a plain container"),
            Evidence(visible(backward, files), "this loss depends on them, and no optimizer holds them"),
        ),
    )
    if any(isinstance(each, (list, tuple)) for each in (held.values() if isinstance(held, dict) else held)):
        return Reported(replace(finding, no_fix_because="the container holds containers: each of them has to be a module"))
    changes: tuple[Change, ...] = (WrapExpression(span, before=f"torch.nn.{kind}(", after=")"), AddImport(span.path, "torch"))
    return Reported(finding, Proposal(f"Register the {layers}: torch.nn.{kind}", Safety.SAFE, changes))


_REGISTERED = "torch.nn.ParameterList([nn.Parameter(torch.randn(8)) for _ in range(3)])"
_PROMPTS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.prompts = {made}
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(sum(prompt + x for prompt in self.prompts))

def train(loader):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
"""

RULE = Rule(
    "unregistered-modules",
    Severity.ERROR,
    "layers in a plain list are not part of the model",
    __doc__,
    check,
    examples=(
        Bad(_PROMPTS.format(made="[nn.Parameter(torch.randn(8)) for _ in range(3)]  # flagged"), fixed=_PROMPTS.format(made=_REGISTERED)),
        Bad(
            """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(8, 8) for _ in range(3)]  # flagged
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return self.head(x)

def train(loader):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
""",
            fixed="""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return self.head(x)

def train(loader):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
""",
        ),
        Good(
            """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 1)
        self.layers = [self.first, self.second]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def train(loader):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
"""
        ),
        Bad(
            """
import torch
from torch import nn

class Branches(nn.Module):
    def __init__(self, size, branches=None, bridged=False):
        super().__init__()
        self.stem = nn.Linear(size, size)
        if bridged:
            self.bridge = [nn.Linear(size, size) for _ in range(2)]  # flagged
        self.branches = []  # flagged
        for branch in branches or []:
            self.branches.append(nn.Linear(size, branch))

    def forward(self, x):
        x = self.stem(x)
        outputs = [branch(x) for branch in self.branches]
        return [self.bridge[0](x), *outputs]
""",
            fixed="""
import torch
from torch import nn

class Branches(nn.Module):
    def __init__(self, size, branches=None, bridged=False):
        super().__init__()
        self.stem = nn.Linear(size, size)
        if bridged:
            self.bridge = torch.nn.ModuleList([nn.Linear(size, size) for _ in range(2)])
        self.branches = torch.nn.ModuleList([])
        for branch in branches or []:
            self.branches.append(nn.Linear(size, branch))

    def forward(self, x):
        x = self.stem(x)
        outputs = [branch(x) for branch in self.branches]
        return [self.bridge[0](x), *outputs]
""",
        ),
        Good(
            """
from torch import nn

class Guided(nn.Module):
    def __init__(self, teacher: nn.Module):
        super().__init__()
        self.net = nn.Linear(8, 1)
        self.hidden = [teacher]

    def forward(self, x):
        return self.net(x) - self.hidden[0](x)
"""
        ),
        Good(
            """
import torch
from torch import nn

class Student(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        self.net = nn.Linear(8, 1)
        self.hidden = [teacher]

    def forward(self, x):
        with torch.no_grad():
            target = self.hidden[0](x)
        return nn.functional.mse_loss(self.net(x), target)

def train(loader):
    student = Student(nn.Linear(8, 1))
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        student(x).backward()
        optimizer.step()
"""
        ),
    ),
)
