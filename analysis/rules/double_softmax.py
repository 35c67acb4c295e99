"""Probabilities go into a loss that applies softmax itself.

`cross_entropy` takes raw scores and normalises them. Scores that went through `softmax` before lie between 0 and 1: the loss cannot
come near zero, gradients are tiny, and the model learns slowly and badly without any error. A `log_softmax` before
`cross_entropy` is only superfluous.

**How to fix it.** Give the loss the raw scores. Apply softmax where probabilities are read: in metrics and predictions.

**What is not reported.** Probabilities that only metrics, sampling or `nll_loss(log(p))` read, attention weights, soft targets
(the second argument of the loss), `nll_loss` on `log_softmax`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, Reported
from analysis.library.tensor import Made
from analysis.rule import Bad, Good, Rule
from analysis.rules._chains import origins, place_of, without_call
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import text

#: Losses that apply log_softmax to their input.
_NORMALISING = frozenset({"cross_entropy"})
_NORMALISATIONS = frozenset({"softmax", "log_softmax"})


def check(trace: Trace) -> Iterator[Reported]:
    """Each loss whose input was normalised before."""
    told: set[tuple[object, ...]] = set()
    for event in trace.events(Kind.LOSS):
        if event.subject not in _NORMALISING or isinstance(event.detail[0], tuple):  # which of several outputs is meant is not told: the loss takes none
            continue
        for made in origins(event.detail[0]):
            key = (made.span, event.span)
            if made.op in _NORMALISATIONS and key not in told:
                told.add(key)
                yield _reported(trace, event, made)


def _reported(trace: Trace, loss: Event, made: Made) -> Reported:
    files = trace.snapshot.contents
    at = visible(loss, files)
    span = place_of(made, files, at)
    harmless = made.op == "log_softmax"
    effect = (
        "normalising twice changes nothing, one of them is superfluous"
        if harmless
        else "it squeezes the scores into 0…1, so that the loss stays high and gradients small"
    )
    finding = Finding(
        RULE.name,
        Severity.NOTICE if harmless else Severity.ERROR,
        Confidence.HIGH,
        span,
        f"the scores go through {made.op} here and again inside the cross entropy of `{text(trace.snapshot, at)}`: {effect}",
        (Evidence(span, f"{made.op} normalises the scores"), Evidence(at, "this loss applies log_softmax to its input itself")),
    )
    change = without_call(trace, span, _NORMALISATIONS)
    if change is None:
        return Reported(replace(finding, no_fix_because="the softmax is a layer of the model: take it out where the model is built"))
    title = "Does nothing else need probabilities here? Then give the loss the raw scores"
    return Reported(finding, Proposal(title, Safety.REVIEW, (change,)))


RULE = Rule(
    "double-softmax",
    Severity.ERROR,
    "probabilities go into a loss that applies softmax itself",
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
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return F.softmax(self.head(x), dim=1)  # flagged

def train(loader):
    net = Net()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        optimizer.step()
""",
            fixed="""
import torch
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(x)

def train(loader):
    net = Net()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        optimizer.step()
""",
        ),
        Good(
            """
import torch
from torch.nn import functional as F

def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        scores = net(x)
        sure = scores.softmax(-1).max(-1).values.mean()
        loss = F.cross_entropy(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item(), sure.item())
"""
        ),
        Good(
            """
import torch
from torch.nn import functional as F

def distil(student, teacher, loader):
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for x in loader:
        with torch.no_grad():
            soft = teacher(x).softmax(dim=1)
        loss = F.cross_entropy(student(x), soft) + F.nll_loss(F.log_softmax(student(x), dim=1), soft.argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
        ),
    ),
)
