"""A model is evaluated in training mode.

In training mode dropout is on and batch norm normalises with the statistics of the batch, and goes on updating its running ones with the
validation data. An evaluation in that mode measures another model than the one that will be used, and spoils it a little each time.

**How to fix it.** `model.eval()` before the evaluation and `model.train()` after it, in the function that evaluates.

**What is not reported.** Models without any layer that behaves differently in the two modes; forwards whose outputs are back-propagated or that stand
beside a backward in the same step (pseudo labels, momentum encoders); outputs that nothing measures (samples to look at); batches of the data that the
model learns from; models that never learn; a model that code which was not followed may have switched.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import InsertAfter, InsertBefore, Proposal, RemoveStatement, Reported
from analysis.interpreter.values import Instance, Symbol
from analysis.library.tensor import Tensor, tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._carriers import ancestors
from analysis.rules._modes import mode_matters, mode_surely_matters
from analysis.rules._objects import Concern, concern, confidence_in, contains, distinct, forward_numbers, numbers_in
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.automaton import Automaton, Letter, LetterOf, Witness
from analysis.trace.events import Event, Kind
from analysis.trace.places import frames, visible, within
from analysis.trace.reading import around, callee, span_of, statement_of

#: Per model. training: it learned, or was told to train, and nothing has put it in evaluation mode since.
MODE = Automaton(
    start="new",
    table={
        ("new", "learn"): "training",
        ("new", "train"): "training",
        ("new", "eval"): "evaluating",
        ("training", "eval"): "evaluating",
        ("training", "opaque"): "new",
        ("evaluating", "train"): "training",
        ("evaluating", "opaque"): "new",
    },
    faults=frozenset({("training", "evaluate")}),
    neutral=frozenset({"new", "evaluating"}),
    cures=frozenset({"eval"}),
    certain=True,
)
#: Operations that bring data in.
_SOURCES = frozenset({"batch", "tensor", "from_numpy", "as_tensor", "stack", "sample"})
#: What comes of it, where a layer is known for which the mode matters, and where one may be in what is not told.
_SURE = "so dropout is on, and batch norm uses and updates the statistics of the validation batches"
_UNSURE = "so whatever dropout or batch norm there is in it (not all of it is told here) works as in training"


def check(trace: Trace) -> Iterator[Reported]:
    """Forwards of an evaluation that run while the model is in training mode."""
    evaluations = _Evaluations(trace)
    for model in distinct(event.subject for event in trace.events(Kind.FORWARD)):
        if not evaluations.learns(model) or not mode_matters(trace.snapshot, model):
            continue
        letters = evaluations.letters(model)
        found = trace.run(MODE, letters, Kind.EVAL_MODE, Kind.TRAIN_MODE, Kind.FORWARD, Kind.OPAQUE)
        told: set[Span] = set()
        for witness in found:
            if witness.fault.span not in told:
                told.add(witness.fault.span)
                yield _reported(trace, model, witness, evaluations.stands(witness.fault), sure=evaluations.has_loader(witness.fault))


@dataclass(frozen=True, slots=True)
class Evaluating:
    """``at``: the forward, or the call that leads to it and to no training; ``loop``: what the loop around it goes through."""

    at: Span
    loop: Span | None


class _Evaluations:
    """Which forwards of a trace learn, and which only evaluate."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._forwards = list(trace.events(Kind.FORWARD))
        self._backwards = list(trace.events(Kind.BACKWARD, Kind.GRADIENT_CALL))
        self._learned = numbers_in(event.value for event in self._backwards)
        #: By what made them: a tensor that goes through a global name is another one with the same past.
        self._measured = {id(tensor.made) for tensor in ancestors(*_measured(trace))}
        self._learned_from: set[object] = set()
        for event in self._forwards:
            if forward_numbers(event) & self._learned:
                self._learned_from |= _data(event)

    def learns(self, model: Instance) -> bool:
        """Whether any forward of the model is back-propagated."""
        return any(concern(event.subject, model) is Concern.YES and forward_numbers(event) & self._learned for event in self._forwards)

    def letters(self, model: Instance) -> LetterOf:
        """Events as ``model`` sees them."""

        def letter(event: Event) -> Letter | None:
            match event.kind:
                case Kind.EVAL_MODE | Kind.TRAIN_MODE:
                    if concern(event.subject, model) is Concern.YES or contains(event.subject, model):
                        return "eval" if event.kind is Kind.EVAL_MODE else "train"
                    return "opaque" if event.kind is Kind.EVAL_MODE and contains(model, event.subject) else None
                case Kind.FORWARD:
                    if concern(event.subject, model) is not Concern.YES:
                        return None
                    if forward_numbers(event) & self._learned:
                        return "learn"
                    return "evaluate" if self._evaluates(event, model) else None
                case _:
                    return "opaque" if any(concern(each, model) is not Concern.NO for each in event.subject) else None

        return letter

    def _evaluates(self, event: Event, model: Instance) -> bool:
        """In a loop of its own, on other data than the model learns from, and measured: what only is looked at (samples of a generator) may be in any mode."""
        stamp = event.context.stamp
        if not stamp or within(model.stamp, stamp) or any(number == stamp[-1][0] for other in self._backwards for number, _ in other.context.stamp):
            return False
        data = _data(event)
        if not data or data & self._learned_from:
            return False
        return any(id(tensor.made) in self._measured for tensor in tensors_in(event.value))

    def stands(self, event: Event) -> Evaluating:
        """Where an evaluation is seen to be one: the innermost call that no training forward goes through, and the outermost loop that does not train."""
        files = self._trace.snapshot.contents
        trained = {span for other in self._forwards if forward_numbers(other) & self._learned for span in frames(other)}
        alone = (span for span in reversed(frames(event)) if span.path in files and span not in trained)
        loops = {number for other in self._backwards for number, _ in other.context.stamp}
        number = next((number for number, _ in event.context.stamp if number not in loops), None)
        loop = self._trace.loop(number) if number is not None else None
        return Evaluating(next(alone, visible(event, files)), loop.span if loop is not None else None)

    def has_loader(self, event: Event) -> bool:
        """Whether the input comes from a loader, which is not one that the model learns from."""
        return any(isinstance(each, tuple) and each[0] == "loader" for each in _data(event))


def _measured(trace: Trace) -> Iterator[Tensor]:
    """What goes into a loss or a metric, or is read as a number."""
    for event in trace.events(Kind.LOSS, Kind.ITEM, Kind.MEASURE):
        yield from tensors_in(event.detail[:1] if event.kind is Kind.LOSS else event.value)


def _data(forward: Event) -> set[object]:
    """Where the inputs of a forward come from: loaders, and places where data become tensors."""
    found: set[object] = set()
    for given in forward.detail if isinstance(forward.detail, tuple) else ():
        if isinstance(given, Symbol) and given.stamp:
            found.add((given.why, given.span))
        for tensor in tensors_in(given):
            for before in ancestors(tensor):
                if before.made is not None and before.made.op in _SOURCES:
                    loader = before.made.options.get("loader")
                    found.add(("loader", id(loader)) if loader is not None else before.made.span)
    return found


def _reported(trace: Trace, model: Instance, witness: Witness, stands: Evaluating, *, sure: bool) -> Reported:
    files = trace.snapshot.contents
    before, forward = witness.events[-2][0] if len(witness.events) > 1 else witness.fault, witness.fault
    told = next((event for event, letter in reversed(witness.events) if letter == "train"), None)
    again = told if told is not None and _switched_back(trace, told, forward) else None
    span = stands.at if again is None else visible(again, files)
    name = callee(trace.snapshot, visible(forward, files)) or "the model"
    surely = mode_surely_matters(model)
    how = "train() puts it back in training mode just before" if again is not None else "nothing has called eval()"
    finding = Finding(
        RULE.name,
        RULE.severity,
        min(confidence_in(model), Confidence.HIGH if sure and surely else Confidence.MEDIUM),
        span,
        f"`{name}` is evaluated in training mode: {how}, {_SURE if surely else _UNSURE}",
        (
            Evidence(visible(told or before, files), "the model is in training mode from here on" if told else "it has learned here"),
            *([Evidence(stands.loop, "this loop only evaluates")] if stands.loop is not None and stands.loop.path in files else []),
            Evidence(visible(forward, files), "and it still is in this forward, whose output is never back-propagated"),
        ),
    )
    return _with_fix(trace, finding, forward, again, name)


def _switched_back(trace: Trace, told: Event, forward: Event) -> bool:
    """Whether the same call puts the model in evaluation mode and back before it evaluates."""
    if told.path != forward.path[: len(told.path)]:
        return False
    order = [event for event in trace.events(Kind.EVAL_MODE, Kind.TRAIN_MODE) if event.path == told.path and event.detail != "from_pretrained"]
    place = order.index(told)
    return place > 0 and order[place - 1].kind is Kind.EVAL_MODE and order[place - 1].context.stamp == told.context.stamp


def _with_fix(trace: Trace, finding: Finding, forward: Event, again: Event | None, name: str) -> Reported:
    snapshot, path = trace.snapshot, forward.span.path
    if again is not None and (statement := statement_of(snapshot, again.span)) is not None:
        return Reported(finding, Proposal("Stay in evaluation mode for the evaluation", Safety.SAFE, (RemoveStatement(statement),)))
    stands = around(snapshot, forward.span)
    loops = [each for each in stands.statements if isinstance(each, (ast.For, ast.While))] if stands is not None else []
    loop = span_of(snapshot, path, loops[-1]) if loops else None
    if loop is None or name == "the model" or path not in snapshot.contents:
        return Reported(replace(finding, no_fix_because="the evaluation stands in no loop here that eval() and train() could be put around"))
    changes = (InsertBefore(loop, (f"{name}.eval()",)), InsertAfter(loop, (f"{name}.train()",)))
    return Reported(finding, Proposal("Is no part of the model kept in evaluation mode on purpose? Then evaluate in it and go back", Safety.REVIEW, changes))


_EXAMPLE = """
import torch
from torch import nn
from torch.utils.data import DataLoader

def validate(net, loader):
    total = 0.0
    with torch.no_grad():
{body}
    return total

def main(data, held_out):
    net = nn.Sequential(nn.Linear(8, 8), nn.{layer}, nn.Linear(8, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loader, other = DataLoader(data, 8, shuffle=True), DataLoader(held_out, 8)
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()
        print(validate(net, other))
"""


def _evaluating(*lines: str, layer: str = "Dropout(0.1)") -> str:
    return _EXAMPLE.format(body="\n".join(f"        {line}" for line in lines), layer=layer)


_SCRIPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets

loader, other = DataLoader(datasets.CIFAR10("data"), 8, shuffle=True), DataLoader(datasets.CIFAR10("data", train=False), 8)
net = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(10):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
{}for x, y in other:
    outputs = net(x){}
    _, predicted = torch.max(outputs.data, 1)
    print((predicted == y).sum())
{}"""

RULE = Rule(
    "evaluation-in-train-mode",
    Severity.WARNING,
    "a model is evaluated in training mode",
    __doc__,
    check,
    examples=(
        Bad(
            _evaluating("for x, y in loader:", "    total += nn.functional.mse_loss(net(x), y).item()  # flagged"),
            fixed=_evaluating("net.eval()", "for x, y in loader:", "    total += nn.functional.mse_loss(net(x), y).item()", "net.train()"),
        ),
        Bad(
            _evaluating("net.eval()", "net.train()  # flagged", "for x, y in loader:", "    total += nn.functional.mse_loss(net(x), y).item()"),
            fixed=_evaluating("net.eval()", "for x, y in loader:", "    total += nn.functional.mse_loss(net(x), y).item()"),
        ),
        Bad(
            _evaluating("for x, y in loader:", "    total += (net(x).argmax(1) == y).sum()  # flagged"),
            fixed=_evaluating("net.eval()", "for x, y in loader:", "    total += (net(x).argmax(1) == y).sum()", "net.train()"),
        ),
        Bad(_SCRIPT.format("", "  # flagged", ""), fixed=_SCRIPT.format("net.eval()\n", "", "net.train()\n")),
        Good(_evaluating("for x, y in loader:", "    total += (y == y.max()).sum()", "    show(net(x).argmax(1))")),
        Good(_evaluating("net.eval()", "for x, y in loader:", "    total += nn.functional.mse_loss(net(x), y).item()", "net.train()")),
        Good(_evaluating("for x, y in loader:", "    total += nn.functional.mse_loss(net(x), y).item()", layer="ReLU()")),
        Good(
            """
import torch
from torch.nn import functional as F

def train(student, loader, unlabelled):
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for (x, y), z in zip(loader, unlabelled):
        with torch.no_grad():
            guess = student(z).argmax(1)
        loss = F.cross_entropy(student(x), y) + F.cross_entropy(student(z), guess)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
        ),
    ),
)
