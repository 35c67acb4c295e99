"""The Kullback-Leibler divergence gets values that are no log-probabilities, or log-probabilities where it wants none.

`kl_div(input, target)` (`KLDivLoss`) takes the logarithm of the model's distribution as its input and plain probabilities as its target, unless
`log_target=True`. With probabilities as input it computes something that is no divergence: it can be negative, and its minimum lies elsewhere.

**How to fix it.** `F.kl_div(F.log_softmax(student, dim=1), F.softmax(teacher, dim=1), reduction="batchmean")`.

**What is not reported.** Inputs that went through `log_softmax` or `log`; values that were not followed to a softmax or a layer; arguments in the wrong
order, which is a mistake of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, ReplaceExpression, Reported, SetArgument
from analysis.interpreter.values import Value
from analysis.library.tensor import Made, Tensor
from analysis.rule import Bad, Good, Rule
from analysis.rules._chains import SHAPES, UNBOUNDED, losses, origins, renamed
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event
from analysis.trace.places import visible
from analysis.trace.reading import call_at, text

_PROBABILITIES = frozenset({"softmax", "sigmoid"})
_LOGARITHMS = frozenset({"log_softmax", "logsigmoid", "log", "logsoftmax"})
#: Arithmetic by which probabilities are averaged.
_AVERAGING = frozenset({"add", "mul", "truediv", "mean", "stack"})
_THROUGH = SHAPES | {"clamp", "clip", "detach"}


def check(trace: Trace) -> Iterator[Reported]:
    """Each kl_div whose input or target is of the other kind than it wants."""
    told: set[Span] = set()
    for event in losses(trace, {"kl_div"}):
        given, target, options = event.detail
        kinds = {made.op for made in origins(target, _THROUGH)}
        wrong = next((made for made in origins(given, _THROUGH) if made.op in _PROBABILITIES | UNBOUNDED), None) or _averaged(given)
        wrong = wrong or next((made for made in origins(given, _THROUGH | {"truediv", "mul"}) if made.op in UNBOUNDED), None)
        if event.span in told:
            continue
        if wrong is not None and not kinds & _LOGARITHMS:
            told.add(event.span)
            yield _wrong_input(trace, event, wrong)
        elif wrong is None and any(True for _ in origins(given, _THROUGH)):
            found = list(_wrong_target(trace, event, options))
            told.update(event.span for _ in found)
            yield from found


def _averaged(given: Value) -> Made | None:
    """A softmax of which, with others, the input is an average."""
    made = given.made if isinstance(given, Tensor) else None
    if made is None or made.op not in _AVERAGING:
        return None
    parts = [_averaged(each) or next((found for found in origins(each, _THROUGH) if found.op == "softmax"), None) for each in made.tensors]
    return parts[0] if parts and None not in parts else None


def _wrong_input(trace: Trace, loss: Event, made: Made) -> Reported:
    files = trace.snapshot.contents
    at = visible(loss, files)
    comes = made.span if made.span.path in files else at
    what = "probabilities" if made.op in _PROBABILITIES else "raw scores"
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH,
        at,
        f"`{text(trace.snapshot, at)}` wants log-probabilities as its input and gets {what}: what it computes is no divergence, and its minimum lies elsewhere",
        (Evidence(comes, f"{made.op} gives {what}"), Evidence(at, "this loss takes them as log-probabilities")),
    )
    new = renamed(trace, comes, "softmax", "log_softmax") if made.op == "softmax" else None
    if _averaged(loss.detail[0]) is not None:
        return Reported(replace(finding, no_fix_because="the input is an average of probabilities: take the logarithm of the average"))
    if new is None:
        return Reported(replace(finding, no_fix_because="the input is made in a layer, or needs a log_softmax whose dimension is not known here"))
    return Reported(finding, Proposal("Does nothing else need probabilities here? Then take their logarithm here", Safety.REVIEW, (ReplaceExpression(*new),)))


def _wrong_target(trace: Trace, loss: Event, options: dict[str, Value]) -> Iterator[Reported]:
    """A target whose kind and ``log_target`` disagree."""
    logarithmic = options.get("log_target", False)
    if not isinstance(logarithmic, bool):
        return
    made = next((each for each in origins(loss.detail[1], _THROUGH) if each.op in (_PROBABILITIES if logarithmic else _LOGARITHMS)), None)
    if made is None:
        return
    files = trace.snapshot.contents
    at = visible(loss, files)
    comes = made.span if made.span.path in files else at
    said = "log_target=True says that the target is log-probabilities" if logarithmic else "without log_target=True the target is taken as probabilities"
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH,
        at,
        f"`{text(trace.snapshot, at)}`: {said}, and it is the output of {made.op}: the loss is wrong or not a number",
        (Evidence(comes, f"the target is made by {made.op}"), Evidence(at, said)),
    )
    if logarithmic or call_at(trace.snapshot, at) is None or "kl_div" not in text(trace.snapshot, at):
        yield Reported(replace(finding, no_fix_because="the loss is built elsewhere, or the target may be meant for another one"))
    else:
        yield Reported(finding, Proposal("Say that the target is log-probabilities", Safety.SAFE, (SetArgument(at, "log_target", "True"),)))


_TRAIN = """
import torch
import torch.nn.functional as F

def distil(teacher, loader):
    student = torch.nn.Linear(8, 3)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for x, y in loader:
        with torch.no_grad():
            soft = F.{soft}(teacher(x), dim=1)
        guess = F.{guess}(student(x), dim=1)
        loss = F.kl_div(guess, soft, {options}){mark}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def _training(soft: str, guess: str, options: str = 'reduction="batchmean"', mark: str = "") -> str:
    return _TRAIN.format(soft=soft, guess=guess, options=options, mark=mark)


_DIVERGENCE = """
import torch
import torch.nn.functional as F

def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        p, q = net(x).softmax(1), net(y).softmax(1)
        mean = 0.5 * (p + q)
        loss = F.kl_div({first}, p, reduction="batchmean"){mark}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

RULE = Rule(
    "kl-without-log",
    Severity.ERROR,
    "the KL divergence gets probabilities for log-probabilities, or the reverse",
    __doc__,
    check,
    examples=(
        Bad(_training("softmax", "softmax", mark="  # flagged"), fixed=_training("softmax", "log_softmax")),
        Bad(
            _training("log_softmax", "log_softmax", mark="  # flagged"),
            fixed=_training("log_softmax", "log_softmax", 'reduction="batchmean", log_target=True'),
        ),
        Bad(_DIVERGENCE.format(first="mean", mark="  # flagged")),
        Good(_DIVERGENCE.format(first="mean.log()", mark="")),
        Good(_training("softmax", "log_softmax")),
        Good(_training("log_softmax", "log_softmax", 'reduction="batchmean", log_target=True')),
        Good(
            """
import torch

def distil(student, teacher, loader, temperature=2.0):
    criterion = torch.nn.KLDivLoss(reduction="batchmean")
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for x in loader:
        guess = (student(x) / temperature).softmax(dim=-1)
        loss = criterion(guess.log(), (teacher(x).detach() / temperature).softmax(dim=-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
        ),
    ),
)
