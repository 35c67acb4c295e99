"""The loss of an accumulation window is divided twice.

`accelerator.backward`, a DeepSpeed engine, Lightning and the trainer of Transformers divide by the number of micro-batches that they were
told. A division by hand on top makes every gradient too small by that factor.

**How to fix it.** Drop the division by hand.

**What is not reported.** A division by something else than the window (the number of losses, a count of tokens); an accelerator that was
told no window.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.enclosing import expression_at
from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import Change, Proposal, RemoveStatement, ReplaceExpression, Reported
from analysis.interpreter.values import Instance, Symbol, Value
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import confidence_in
from analysis.rules._scaling import Divided, framework_window, same_number, scaling_of
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import around, dotted, span_of, text


def check(trace: Trace) -> Iterator[Reported]:
    """Backwards whose loss was divided by the window that whoever runs them divides by."""
    told: set[Span] = set()
    for event in trace.events(Kind.BACKWARD):
        divided = scaling_of(event.value).divided
        windows = [framework_window(event.subject), *(each.divisor for each in divided if each.made.span.path not in trace.snapshot.contents)]
        for each in divided:
            span = each.made.span
            if span.path in trace.snapshot.contents and span not in told and any(_same(each.divisor, window) for window in windows):
                told.add(span)
                yield _reported(trace, event, each)


def _same(divisor: Value, window: Value) -> bool:
    if window is None:  # an engine whose configuration is not at hand
        return isinstance(divisor, Symbol) and divisor.why == "a setting of the engine"
    return window != 1 and same_number(divisor, window)


def _reported(trace: Trace, backward: Event, divided: Divided) -> Reported:
    span = divided.made.span
    by = backward.subject
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(by) if isinstance(by, Instance) else confidence_in(),
        span,
        f"`{text(trace.snapshot, span)}` divides the loss by the accumulation window, and `{text(trace.snapshot, visible(backward, trace.snapshot.contents))}` "
        "does so again: gradients are too small by that factor",
        (
            Evidence(span, "the loss is divided by the number of micro-batches"),
            Evidence(visible(backward, trace.snapshot.contents), "whoever runs this backward divides by it too"),
        ),
    )
    change = _undo(trace, span)
    if change is None:
        return Reported(replace(finding, no_fix_because="the division is part of a larger expression: take it out"))
    return Reported(finding, Proposal("Leave the division to the framework", Safety.SAFE, (change,)))


def _undo(trace: Trace, span: Span) -> Change | None:
    source = trace.snapshot.source(span.path)
    stands = around(trace.snapshot, span)
    if not isinstance(source, SourceFile) or stands is None:
        return None
    division = expression_at(source, span)
    match stands.statement, division:
        case ast.AugAssign(op=ast.Div()), _:
            return RemoveStatement(source.span(stands.statement))
        case ast.Assign(targets=[target], value=value), ast.BinOp(left=left) if (
            value is division and dotted(target) is not None and dotted(target) == dotted(left)
        ):
            return RemoveStatement(source.span(stands.statement))
        case _, ast.BinOp(op=ast.Div(), left=left):
            kept = span_of(trace.snapshot, span.path, left)
            return ReplaceExpression(span, source.text(kept)) if kept is not None else None
        case _:
            return None


RULE = Rule(
    "double-scaled-accumulation",
    Severity.ERROR,
    "the loss of an accumulation window is divided twice",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch
from accelerate import Accelerator

def train(model, loader, steps):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss = loss / steps  # flagged
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
""",
            fixed="""
import torch
from accelerate import Accelerator

def train(model, loader, steps):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
""",
        ),
        Bad(
            """
import lightning.pytorch as pl
import torch

STEPS = 4

class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.mse_loss(self.net(x), y) / STEPS  # flagged

    def configure_optimizers(self):
        return torch.optim.SGD(self.net.parameters(), lr=0.1)

pl.Trainer(max_epochs=2, accumulate_grad_batches=STEPS).fit(Net(), None)
""",
            fixed="""
import lightning.pytorch as pl
import torch

STEPS = 4

class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.net.parameters(), lr=0.1)

pl.Trainer(max_epochs=2, accumulate_grad_batches=STEPS).fit(Net(), None)
""",
        ),
        Good(
            """
import torch
from accelerate import Accelerator

def train(model, loader, steps):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y, z in loader:
        with accelerator.accumulate(model):
            out = model(x)
            loss = (torch.nn.functional.mse_loss(out, y) + torch.nn.functional.l1_loss(out, z)) / 2
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
"""
        ),
        Good(
            """
import torch
from accelerate import Accelerator

def train(model, loader, steps):
    accelerator = Accelerator()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for i, (x, y) in enumerate(loader):
        accelerator.backward(torch.nn.functional.mse_loss(model(x), y) / steps)
        if (i + 1) % steps == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
        ),
    ),
)
