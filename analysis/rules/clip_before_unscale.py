"""Gradients are clipped while they are still multiplied by the loss scale.

A `GradScaler` multiplies the loss, and with it every gradient, by a factor of thousands. A limit that is applied before
`scaler.unscale_(optimizer)` is smaller than intended by that factor: almost every update shrinks to nearly nothing, and how much depends on
the scale of the moment.

**How to fix it.** `scaler.unscale_(optimizer)` first, then clip, then `scaler.step(optimizer)`. With Accelerate:
`accelerator.clip_grad_norm_`, which unscales.

**What is not reported.** A scaler that is built with `enabled=False`; gradients that are divided by hand; the clipping of frameworks that
unscale themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import InsertBefore, Proposal, ReplaceExpression, Reported
from analysis.interpreter.values import Instance
from analysis.library.precision import SCALES
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradients import GRADIENT_EVENTS, Gradients, gradients_of, scaler_of
from analysis.rules._objects import confidence_in
from analysis.rules._statements import step_names
from analysis.trace import Trace
from analysis.trace.automaton import Automaton, Letter, LetterOf, Witness
from analysis.trace.events import Event
from analysis.trace.places import visible
from analysis.trace.reading import call_at, receiver, span_of, statement_of, text

#: Per optimizer: whether its gradients carry the loss scale.
PROTOCOL = Automaton(
    start="plain",
    table={
        ("plain", "scaled"): "scaled",
        ("scaled", "backward"): "plain",
        ("scaled", "unscale"): "plain",
        ("scaled", "step"): "plain",
        ("scaled", "zero"): "plain",
        ("scaled", "use"): "plain",
        ("scaled", "opaque"): "plain",
    },
    faults=frozenset({("scaled", "clip")}),
    neutral=frozenset({"plain"}),
    cures=frozenset({"unscale"}),
    certain=True,
)


def check(trace: Trace) -> Iterator[Reported]:
    """Clipping between a scaled backward and the unscaling."""
    for gradients in gradients_of(trace):
        for witness in trace.run(PROTOCOL, _letters(gradients), *GRADIENT_EVENTS):
            yield _reported(trace, gradients, witness)


def _letters(gradients: Gradients) -> LetterOf:
    def letter(event: Event) -> Letter | None:
        found = gradients.letter(event)
        if found == "backward" and _scaling(event) is not None:
            return "scaled"
        if found == "clip" and isinstance(event.detail, Instance):
            return None  # a framework clips, and unscales before
        return found

    return letter


def _scaling(backward: Event) -> Instance | None:
    """What multiplied the loss: a scaler, or a framework's that was asked for half precision."""
    by = backward.subject
    if isinstance(by, Instance):
        return by if by.fields.get(SCALES) is True else None
    return scaler_of(backward.value)


def _reported(trace: Trace, gradients: Gradients, witness: Witness) -> Reported:
    files = trace.snapshot.contents
    clip = witness.fault
    backward = witness.last("scaled") or clip
    scaler = _scaling(backward)
    span = visible(clip, files)
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(gradients.optimizer, scaler),
        span,
        f"`{text(trace.snapshot, span)}` clips gradients that are still multiplied by the loss scale: the limit is too small by a factor of thousands",
        (
            Evidence(visible(backward, files), "the loss is scaled, and its gradients with it"),
            Evidence(span, "they are clipped before anything unscales them"),
        ),
    )
    return _with_fix(trace, finding, gradients, backward, clip)


def _with_fix(trace: Trace, finding: Finding, gradients: Gradients, backward: Event, clip: Event) -> Reported:
    if backward.subject is not None:
        call, name = call_at(trace.snapshot, clip.span), receiver(trace.snapshot, backward.span)
        function = span_of(trace.snapshot, clip.span.path, call.func) if isinstance(call, ast.Call) else None
        if function is None or name is None or clip.path != backward.path or not text(trace.snapshot, function).endswith("clip_grad_norm_"):
            return Reported(replace(finding, no_fix_because="the accelerator has no name here: clip with its clip_grad_norm_"))
        if not backward.subject.fields.get("accelerate: options"):
            return Reported(replace(finding, no_fix_because=f"clip with {name}.clip_gradients, which unscales first: it is told the model and the optimizer"))
        change = ReplaceExpression(function, f"{name}.clip_grad_norm_")
        return Reported(finding, Proposal("Let the accelerator clip: it unscales first", Safety.SAFE, (change,)))
    steps = (event for event in trace.events(*GRADIENT_EVENTS) if gradients.letter(event) == "step" and event.path == clip.path and event.detail is not None)
    step = next(steps, None)
    names = step_names(trace, step) if step is not None else None
    place = statement_of(trace.snapshot, clip.span)
    if names is None or place is None or clip.span.path not in trace.snapshot.contents:
        return Reported(replace(finding, no_fix_because="scaler and optimizer have no names where the clipping is done: unscale there first"))
    line = f"{names[0]}.unscale_({names[1]})"
    return Reported(finding, Proposal(f"Unscale before clipping: {line}", Safety.SAFE, (InsertBefore(place, (line,)),)))


RULE = Rule(
    "clip-before-unscale",
    Severity.ERROR,
    "gradients are clipped while they carry the loss scale",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # flagged
        scaler.step(optimizer)
        scaler.update()
""",
            fixed="""
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
""",
        ),
        Bad(
            """
import torch
from accelerate import Accelerator

def train(model, loader):
    accelerator = Accelerator(mixed_precision="fp16")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        optimizer.zero_grad()
        accelerator.backward(torch.nn.functional.mse_loss(model(x), y))
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # flagged
        optimizer.step()
""",
            fixed="""
import torch
from accelerate import Accelerator

def train(model, loader):
    accelerator = Accelerator(mixed_precision="fp16")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        optimizer.zero_grad()
        accelerator.backward(torch.nn.functional.mse_loss(model(x), y))
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
""",
        ),
        Good(
            """
import torch

def train(model, loader, clip=1.0):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler()
    for x, y in loader:
        optimizer.zero_grad()
        with torch.cuda.amp.autocast():
            loss = torch.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        if clip:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        scaler.step(optimizer)
        scaler.update()
"""
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler(enabled=False)
    for x, y in loader:
        optimizer.zero_grad()
        scaler.scale(torch.nn.functional.mse_loss(model(x), y)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
"""
        ),
    ),
)
