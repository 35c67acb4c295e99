"""An optimizer is given the same parameters twice.

Two groups that share parameters, a model and its own head for instance, make PyTorch raise `ValueError: some parameters appear in more
than one parameter group`. Within one group, as with two modules that were given the same embedding, it only warns, and updates them twice in each step.

**How to fix it.** Give each group what the others leave out: the head's parameters, and the model's without them.

**What is not reported.** Groups that are picked by name or by a filter; sets of parameters; two optimizers for one model.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from analysis.finding import Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.interpreter.values import Instance, Value
from analysis.library.optimizers import GIVEN, owners_in
from analysis.library.tensor import Parameters
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import atoms_of, confidence_in, inner
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import around, call_at, text

#: How often a list is named that is made and handed over, and nothing else.
_MADE_AND_GIVEN = 2


def check(trace: Trace) -> Iterator[Reported]:
    """Groups of one optimizer that take all parameters of modules which share some."""
    for event in trace.events(Kind.OPTIMIZER_BUILT):
        optimizer = event.subject
        groups = [given for given in optimizer.fields.get(GIVEN, ()) if isinstance(given, Parameters)] if isinstance(optimizer, Instance) else []
        if any(_overlap(one, other) for one, other in combinations(groups, 2)) and visible(event, trace.snapshot.contents).path in trace.snapshot.contents:
            yield _reported(trace, event)
        elif isinstance(optimizer, Instance) and any(_twice(given, listed=_is_listed(trace, event)) for given in optimizer.fields.get(GIVEN, ())):
            yield _reported(trace, event, within=True)


def _twice(given: Value, *, listed: bool) -> bool:
    """Whether one group takes all parameters of modules one after another which share some, as those that are given the same embedding."""
    whole = isinstance(given, Parameters) and not given.partial
    parts = list(owners_in(given)) if whole or (listed and isinstance(given, list)) else []
    modules = [owner for owner in parts if isinstance(owner, Instance)]
    return len(modules) == len(parts) and any(inner(one) is not inner(other) and _share(one, other, partly=False) for one, other in combinations(modules, 2))


def _is_listed(trace: Trace, built: Event) -> bool:
    """Whether the parameters are written as one list of whole modules' parameters: a set, or a filter, may leave out what comes twice."""
    stands = around(trace.snapshot, built.span) if built.span.path in trace.snapshot.contents else None
    match call_at(trace.snapshot, built.span) if stands is not None else None:
        case ast.Call(args=[ast.Name(id=name), *_]) if stands is not None and stands.function is not None:
            named = [node for node in walk(stands.function) if isinstance(node, ast.Name) and node.id == name]
            given = [node.value for node in walk(stands.function) if isinstance(node, ast.Assign) and any(each in named for each in node.targets)]
            return len(given) == 1 and len(named) == _MADE_AND_GIVEN and _is_list_of_whole(given[0])
        case ast.Call(args=[given, *_]):
            return _is_list_of_whole(given)
    return False


def _is_list_of_whole(given: ast.expr) -> bool:
    """``[*a.parameters(), *b.parameters()]`` or ``list(a.parameters()) + list(b.parameters())``."""
    match given:
        case ast.List(elts=[_, *_] as parts):
            return all(isinstance(each, ast.Starred) and _asks(each.value) for each in parts)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _is_list_of_whole(left) and _is_list_of_whole(right)
        case ast.Call(func=ast.Name(id="list"), args=[part]):
            return _asks(part)
    return False


def _asks(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parameters"


def _overlap(one: Parameters, other: Parameters) -> bool:
    """Whether one group takes everything of a module of which the other takes something too."""
    if one.partial and other.partial:
        return False
    whole, rest = (other, one) if one.partial else (one, other)
    return any(_share(a, b, partly=rest.partial) for a in _modules(whole) for b in _modules(rest))


def _modules(given: Parameters) -> list[Instance]:
    return [owner for owner in given.owners if isinstance(owner, Instance)]


def _share(whole: Instance, other: Instance, *, partly: bool) -> bool:
    """Whether both modules have parameters in common; if what is taken of ``other`` is not told, all of its must be in ``whole``."""
    if inner(whole) is inner(other):
        return True
    left, right = atoms_of(whole), atoms_of(other)
    return bool(right) and right <= left if partly else not left.isdisjoint(right)


def _reported(trace: Trace, built: Event, *, within: bool = False) -> Reported:
    span = visible(built, trace.snapshot.contents)
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(built.subject),
        span,
        f"`{text(trace.snapshot, span)}` is given all parameters of two modules that share some: those are there twice, and each step updates them twice"
        if within
        else f"two groups of `{text(trace.snapshot, span)}` take all parameters of modules that share some: PyTorch refuses a parameter in two groups",
        (Evidence(span, f"the optimizer is built with {'parameters that come twice' if within else 'overlapping groups'}"),),
        no_fix_because="which group the shared parameters belong to is for you to say",
    )
    return Reported(finding)


RULE = Rule(
    "duplicate-parameters",
    Severity.ERROR,
    "an optimizer is given the same parameters twice",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = torch.nn.Linear(8, 8), torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x))

def train(loader):
    net = Net()
    optimizer = torch.optim.SGD([{"params": net.parameters()}, {"params": net.head.parameters(), "lr": 0.1}], lr=0.01)  # flagged
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
"""
        ),
        Bad(
            """
import torch

def train(net, loader):
    optimizer = torch.optim.SGD([{"params": net.parameters()}, {"params": net.head.parameters(), "lr": 0.1}], lr=0.01)  # flagged
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
"""
        ),
        Bad(
            """
import torch

def train(pairs):
    shared = torch.nn.Linear(8, 8)
    left, right = (torch.nn.Sequential(torch.nn.Linear(4, 8), shared) for _ in range(2))
    both = list(left.parameters()) + list(right.parameters())
    optimizer = torch.optim.Adam(both, lr=0.01)  # flagged
    for x, y in pairs:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(left(x), right(y)).backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

def train(net, loader):
    rest = [p for name, p in net.named_parameters() if not name.startswith("head")]
    optimizer = torch.optim.SGD([{"params": rest}, {"params": net.head.parameters(), "lr": 0.1}], lr=0.01)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = torch.nn.Linear(8, 8), torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x))

def train(loader):
    net = Net()
    optimizer = torch.optim.SGD([{"params": net.body.parameters()}, {"params": net.head.parameters(), "lr": 0.1}], lr=0.01)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

def train(net, loader):
    decay = [p for n, p in net.named_parameters() if "bias" not in n]
    plain = [p for n, p in net.named_parameters() if "bias" in n]
    optimizer = torch.optim.SGD([{"params": decay, "weight_decay": 0.1}, {"params": plain}], lr=0.01)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
"""
        ),
    ),
)
