"""A graph is kept after its backward although nothing goes through it again.

`backward(retain_graph=True)` keeps every saved activation alive until the graph itself is dropped. In a loop that builds a new graph in each
iteration, with no second backward through the old one, the memory of two iterations is held for nothing.

**How to fix it.** Drop `retain_graph=True`. If PyTorch then complains of a second backward, something from the iteration before is still
attached: detach that instead.

**What is not reported.** A graph that a later backward or `autograd.grad` goes through; parts that were made before the loop; graphs that were
not followed to their end.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, RemoveArgument, Reported
from analysis.library.tensor import Parameter, Tensor
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import numbers_in
from analysis.source import Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import within
from analysis.trace.reading import around, call_at, text

_MOST = 400


def check(trace: Trace) -> Iterator[Reported]:
    """Places whose retained graphs no later backward reaches."""
    gradients = list(trace.events(Kind.BACKWARD, Kind.GRADIENT_CALL))
    reached = [numbers_in([event.value]) for event in gradients]
    needed: set[Span] = set()
    retaining: dict[Span, Event] = {}
    for index, event in enumerate(gradients):
        if not _retains(event):
            continue
        numbers = reached[index]
        later = any(numbers & other for other in reached[index + 1 :])
        if later or not numbers or not _made_here(event) or _asked_again(event, gradients[index + 1 :]) or _is_deleted(trace, event):
            needed.add(event.span)
        retaining.setdefault(event.span, event)
    for span, event in retaining.items():
        if span not in needed and span.path in trace.snapshot.contents and trace.complete:
            yield _reported(trace, event)


def _retains(event: Event) -> bool:
    options = event.detail if isinstance(event.detail, dict) else {}
    return event.kind is Kind.BACKWARD and options.get("retain_graph") is True and not options.get("create_graph") and bool(event.context.stamp)


def _is_deleted(trace: Trace, event: Event) -> bool:
    """Whether the function deletes the variable further on through which the backward went: its graph goes with it."""
    stands, call = around(trace.snapshot, event.span), call_at(trace.snapshot, event.span)
    if stands is None or stands.function is None or call is None:
        return False
    given = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "backward" and not call.args[1:] else next(iter(call.args), None)
    gone = (target for node in walk(stands.function) if isinstance(node, ast.Delete) and node.lineno > call.lineno for target in node.targets)
    return isinstance(given, ast.Name) and any(isinstance(each, ast.Name) and each.id == given.id for each in gone)


def _asked_again(event: Event, later: list[Event]) -> bool:
    """Whether a gradient through a graph that was not followed comes after it in the same iteration."""
    return any(within(each.context.stamp, event.context.stamp) and not (isinstance(each.value, Tensor) and numbers_in([each.value])) for each in later)


def _made_here(event: Event) -> bool:
    """Whether all of the graph was made in the iteration of its backward. The inside of a forward counts as its output does."""
    iteration = event.context.stamp
    todo, seen = [event.value], {event.value}
    while todo:
        tensor: Tensor = todo.pop()
        made = tensor.made
        if made is None or isinstance(tensor, Parameter):
            continue
        if not within(tensor.stamp, iteration) or len(seen) > _MOST:
            return False
        if tensor.span != made.span or "module" in made.options:
            continue  # a forward's output that was made again: its inside is that of an earlier walk
        for each in made.tensors:
            if each.attached and each not in seen:
                seen.add(each)
                todo.append(each)
    return True


def _reported(trace: Trace, event: Event) -> Reported:
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM if event.value.made is None else Confidence.HIGH,
        event.span,
        f"`{text(trace.snapshot, event.span)}` keeps a graph that nothing goes through again: its activations stay in memory into the next iteration",
        (Evidence(event.span, "the graph is kept, and no later backward reaches it"),),
    )
    call = call_at(trace.snapshot, event.span)
    if call is None or not any(keyword.arg == "retain_graph" for keyword in call.keywords):
        return Reported(replace(finding, no_fix_because="retain_graph is not written in this call"))
    return Reported(finding, Proposal("Let the backward free its graph", Safety.SAFE, (RemoveArgument(event.span, "retain_graph"),)))


RULE = Rule(
    "retain-graph-in-loop",
    Severity.WARNING,
    "a graph is kept after its backward although nothing goes through it again",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)  # flagged
        optimizer.step()
""",
            fixed="""
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, dy in loader:
        y = model(x)
        torch.autograd.backward(y, dy, retain_graph=True)
        rest = (x - y).detach()
        del y
        optimizer.step()
        optimizer.zero_grad()
        print(rest)
"""
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        out = model(x)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(out, y).backward(retain_graph=True)
        torch.nn.functional.l1_loss(out, y).backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

def restyle(features, image, style):
    target = features(style)
    image.requires_grad_(True)
    optimizer = torch.optim.LBFGS([image])
    for step in range(100):
        loss = torch.nn.functional.mse_loss(features(image), target)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
"""
        ),
    ),
)
