"""Gradients are never cleared between two optimizer steps.

`backward()` adds to `.grad`. If nothing clears the gradients after `step()`, the next step uses the sum of all batches so
far instead of the gradient of this one: training runs, the loss falls for a while, and the result is wrong.

**How to fix it.** Call `optimizer.zero_grad()` once per step: before `backward()`, or after `step()` where several
backwards are accumulated for one step.

**What is not reported.** Gradients that are cleared by the model (`model.zero_grad()`), by `p.grad = None`, inside a closure,
in a helper, by a framework's engine or trainer; several backwards before one step; a step whose gradients come from
`autograd.grad`; a path on which code that could not be followed may have cleared them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import InsertAfter, InsertBefore, Proposal, Reported
from analysis.interpreter.values import Instance
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradients import Gradients
from analysis.rules._objects import Holdings, confidence_in, optimizers
from analysis.trace import Trace
from analysis.trace.automaton import Automaton, Witness
from analysis.trace.events import Event, Kind
from analysis.trace.places import meeting, visible
from analysis.trace.reading import around, call_at, dotted, receiver, statement_of, text

#: Per optimizer. fresh: gradients of backwards since the last clearing; used: a step took them; stale: a backward added to used ones.
PROTOCOL = Automaton(
    start="clean",
    table={
        ("clean", "backward"): "fresh",
        ("clean", "opaque"): "unknown",
        ("fresh", "backward"): "fresh",
        ("fresh", "step"): "used",
        ("fresh", "zero"): "clean",
        ("fresh", "opaque"): "unknown",
        ("used", "backward"): "stale",
        ("used", "zero"): "clean",
        ("used", "opaque"): "unknown",
        ("stale", "backward"): "stale",
        ("stale", "step"): "used",
        ("stale", "zero"): "clean",
        ("stale", "opaque"): "unknown",
        ("unknown", "zero"): "clean",
    },
    faults=frozenset({("stale", "step")}),
    neutral=frozenset({"clean", "unknown"}),
    cures=frozenset({"zero"}),
)


def check(trace: Trace) -> Iterator[Reported]:
    """A step on gradients that an earlier step has used."""
    known = optimizers(trace)
    holdings = Holdings()
    for optimizer in known:
        gradients = Gradients(optimizer, holdings, alone=len(known) == 1)
        for witness in trace.run(PROTOCOL, gradients.letter, Kind.BACKWARD, Kind.STEP, Kind.ZERO_GRAD, Kind.OPAQUE):
            if witness.fault.span.path in trace.snapshot.contents:  # a framework that steps clears too
                yield _reported(trace, optimizer, witness)


def _reported(trace: Trace, optimizer: Instance, witness: Witness) -> Reported:
    files = trace.snapshot.contents
    again = witness.fault
    first, *more, backward = _since_first_step(witness)  # other optimizers' backwards may come before the step's own
    span = meeting(backward, again, files)
    step = text(trace.snapshot, visible(first, files))
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(optimizer),
        span,
        f"`{text(trace.snapshot, visible(backward, files))}` adds to gradients that `{step}` has already used: "
        "nothing clears them in between, so the next step takes the old gradients together with the new ones",
        (
            Evidence(visible(first, files), "this step uses the gradients and leaves them in place"),
            Evidence(visible(backward, files), "the next backward adds to them"),
            Evidence(visible(again, files), "and the next step uses the sum"),
        ),
    )
    straight = first.span == again.span and not more and _same_block(trace, backward, again)
    return _with_fix(trace, finding, backward if straight else None, first)


def _since_first_step(witness: Witness) -> list[Event]:
    """From the step that used the gradients to the last backward before the mistake."""
    events = list(witness.events[:-1])
    start = max(index for index, (_, letter) in enumerate(events) if letter == "step")
    return [event for event, _ in events[start:]]


def _same_block(trace: Trace, backward: Event, step: Event) -> bool:
    """Whether the two stand in one block of one call, so that one always comes with the other."""
    one, other = around(trace.snapshot, backward.span), around(trace.snapshot, step.span)
    return backward.path == step.path and one is not None and other is not None and one.statements[:-1] == other.statements[:-1]


def _with_fix(trace: Trace, finding: Finding, backward: Event | None, step: Event) -> Reported:
    """Clear before ``backward`` if that is the step's only one, else after the step."""
    name = _optimizer_name(trace, step)
    after = statement_of(trace.snapshot, step.span)
    before = statement_of(trace.snapshot, backward.span) if backward is not None else None
    if name is None or after is None or step.span.path not in trace.snapshot.contents:
        return Reported(replace(finding, no_fix_because="the optimizer has no name where the step is run"))
    line = (f"{name}.zero_grad()",)
    if before is not None:
        return Reported(finding, Proposal(f"Clear the gradients before this backward: {line[0]}", Safety.SAFE, (InsertBefore(before, line),)))
    return Reported(finding, Proposal(f"Clear the gradients after the step: {line[0]}", Safety.SAFE, (InsertAfter(after, line),)))


def _optimizer_name(trace: Trace, step: Event) -> str | None:
    """``optimizer`` of ``optimizer.step()`` and of ``scaler.step(optimizer)``."""
    call = call_at(trace.snapshot, step.span)
    if call is None or not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
        return None
    if step.detail is None:
        return receiver(trace.snapshot, step.span)
    return dotted(call.args[0]) if call.args else None


RULE = Rule(
    "missing-zero-grad",
    Severity.ERROR,
    "gradients are never cleared between two optimizer steps",
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
        loss.backward()  # flagged
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
        Bad(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y) / 4
        loss.backward()  # flagged
        if (i + 1) % 4 == 0:
            optimizer.step()
""",
            fixed="""
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y) / 4
        loss.backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        model.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

def train(model, loader, accumulate=8):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        (torch.nn.functional.mse_loss(model(x), y) / accumulate).backward()
        if (i + 1) % accumulate == 0 or i + 1 == len(loader):
            optimizer.step()
            for p in model.parameters():
                p.grad = None
"""
        ),
        Good(
            """
import torch

def train(generator, critic, loader):
    g = torch.optim.Adam(generator.parameters())
    d = torch.optim.Adam(critic.parameters())
    for i, real in enumerate(loader):
        fake = generator(torch.randn_like(real))
        d.zero_grad()
        (critic(fake.detach()).mean() - critic(real).mean()).backward()
        d.step()
        if i % 5 == 0:
            g.zero_grad()
            (-critic(fake).mean()).backward()
            g.step()
"""
        ),
    ),
)
