"""A module that is trained with the others is in no optimizer.

A loss with weights of its own, a projection head, a prompt: the module takes part in the loss, its parameters get gradients, and no optimizer
ever updates them. They stay at their random start.

**How to fix it.** Give them to the optimizer: `[*model.parameters(), *criterion.parameters()]`.

**What is not reported.** Pretrained models; modules that were put into evaluation mode or frozen; copies of a module that is trained (target and
momentum networks), unless they have a loss of their own; parts of one model, since training a head alone is common; optimizers whose parameters are not known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.interpreter.values import Instance
from analysis.library.optimizers import parameters_of
from analysis.library.ownership import FROZEN, modules_in
from analysis.library.tensor import Owner, Tensor
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradients import Gradients, gradients_of
from analysis.rules._objects import Concern, Holdings, atoms_of, concern, contains, distinct, inner
from analysis.rules._sources import attached_in
from analysis.source import Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import around, span_of, text


def check(trace: Trace) -> Iterator[Reported]:
    """Modules built by the program that a trained loss reaches and no optimizer holds."""
    known = gradients_of(trace)
    if not known or not all(gradients.owners for gradients in known) or _changed_unseen(trace, known):
        return
    holdings = Holdings()
    built = {id(event.subject) for event in trace.events(Kind.OPTIMIZER_BUILT)}
    given = [owner for event in trace.events(Kind.OPTIMIZER_BUILT) for owner in parameters_of(event.subject)]
    if any(id(gradients.optimizer) not in built for gradients in known):
        return
    for module in distinct(event.subject for event in trace.events(Kind.FORWARD)):
        backward = _trained_through(trace, known, module)
        if backward is None or module.span is None or module.span.path not in trace.snapshot.contents:
            continue
        copy = _is_copy(module, given) and not _alone_in_a_loss(trace, holdings, module, given, backward)
        if not holdings.shared([module], given) and _starts_fresh(trace, module) and not copy and not _is_one_of_many(trace, module, given):
            yield _reported(trace, module.span, backward)


def _changed_unseen(trace: Trace, known: list[Gradients]) -> bool:
    """Whether code that was not followed had an optimizer in its hands: it may have given it more."""
    seen = {id(gradients.optimizer) for gradients in known}
    return any(id(each) in seen for event in trace.events(Kind.OPAQUE) for each in event.subject)


def _trained_through(trace: Trace, known: list[Gradients], module: Instance) -> Event | None:
    """A backward through the module and through parameters that some optimizer holds."""
    for event in trace.events(Kind.BACKWARD):
        if any(inner(owner) is module for owner in event.value.owners) and any(gradients.letter(event) == "backward" for gradients in known):
            return event
    return None


def _starts_fresh(trace: Trace, module: Instance) -> bool:
    """Whether its parameters are its own, in training, and were made here."""
    if module.assumed or not atoms_of(module) or any(each.cls.find("is_unknown") is True or each.fields.get(FROZEN) is True for each in modules_in(module)):
        return False
    evaluated = (event for event in trace.events(Kind.EVAL_MODE) if isinstance(event.subject, Instance))
    return not any(concern(event.subject, module) is Concern.YES or contains(event.subject, module) for event in evaluated)


def _is_copy(module: Instance, given: list[Owner]) -> bool:
    """Whether a module of the same class is trained: then this one may follow it by hand."""
    trained = [owner for owner in given if isinstance(owner, Instance)]
    return any(each.cls is module.cls for owner in trained for each in modules_in(inner(owner)))


def _is_one_of_many(trace: Trace, module: Instance, given: list[Owner]) -> bool:
    """Whether one loop made it together with modules that are optimized: the loop that gives them away is rehearsed for some of them only."""
    if module.span is None or not any(isinstance(owner, Instance) and inner(owner).span == module.span for owner in given):
        return False
    stands = around(trace.snapshot, module.span)
    statements = stands.statements if stands is not None else ()
    if any(isinstance(each, ast.For) for each in statements):
        return True
    comprehensions = (node for each in statements[-1:] for node in walk(each) if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp)))
    spans = (span_of(trace.snapshot, module.span.path, node) for node in comprehensions)
    return any(span is not None and span.holds(module.span) for span in spans)


def _alone_in_a_loss(trace: Trace, holdings: Holdings, module: Instance, given: list[Owner], backward: Event) -> bool:
    """Whether the backward goes through a loss of its own: through its parameters, and none that an optimizer holds."""
    through = attached_in(backward.value)
    losses = (event.value for event in trace.events(Kind.LOSS) if isinstance(event.value, Tensor) and event.value.made in through)
    return any(holdings.shared([module], loss.owners) and not holdings.shared(loss.owners, given) for loss in losses)


def _reported(trace: Trace, span: Span, backward: Event) -> Reported:
    files = trace.snapshot.contents
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM,
        span,
        f"`{text(trace.snapshot, span)}` takes part in the loss, and no optimizer holds its parameters: they stay as they were initialised",
        (
            Evidence(span, "the module and its parameters are made"),
            *(Evidence(visible(event, files), "this optimizer is built without them") for event in trace.events(Kind.OPTIMIZER_BUILT)),
            Evidence(visible(backward, files), "this backward gives them gradients, which nothing uses"),
        ),
        no_fix_because="whether these parameters are meant to be trained is for you to say: then give them to the optimizer",
    )
    return Reported(finding)


RULE = Rule(
    "unoptimized-parameters",
    Severity.WARNING,
    "a module that is trained with the others is in no optimizer",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch
from torch import nn

class Margin(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(10, 8))

    def forward(self, x, y):
        return nn.functional.cross_entropy(x @ self.weight.t(), y)

def train(loader):
    net = nn.Linear(4, 8)
    criterion = Margin()  # flagged
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        optimizer.step()

train([(torch.zeros(2, 4), torch.zeros(2))])
"""
        ),
        Bad(
            """
import torch
from torch import nn

def train(loader):
    first = nn.Linear(4, 1)
    second = nn.Linear(4, 1)  # flagged
    optimizer = torch.optim.SGD(first.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        (nn.functional.mse_loss(first(x), y) + nn.functional.mse_loss(second(x), y)).backward()
        optimizer.step()

train([(torch.zeros(2, 4), torch.zeros(2, 1))])
"""
        ),
        Good(
            """
import torch
from torch import nn

def train(loader):
    net, target = nn.Linear(4, 8), nn.Linear(4, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), target(y)).backward()
        optimizer.step()

train([(torch.zeros(2, 4), torch.zeros(2, 4))])
"""
        ),
        Good(
            """
import torch
from torch import nn

def train(loader):
    net, features = nn.Linear(4, 8), nn.Conv1d(1, 1, 1)
    features.requires_grad_(False)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(features(net(x)), y).backward()
        optimizer.step()

train([(torch.zeros(2, 4), torch.zeros(2, 4))])
"""
        ),
    ),
)
