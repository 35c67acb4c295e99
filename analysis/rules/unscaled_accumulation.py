"""Gradients of several micro-batches are summed without dividing the loss.

A mean loss gives the mean gradient of its batch. Summed over a window of N micro-batches it is N times the gradient of one large batch: the
learning rate is N times too high, and a limit for clipping N times too low. Dividing by something else than the window, a running index
for example, weighs the micro-batches unequally.

**How to fix it.** `(loss / steps).backward()`, with the number of micro-batches of a window. Accelerate divides if it is told the window:
`Accelerator(gradient_accumulation_steps=steps)`.

**What is not reported.** Sum reductions, which a division by a global count turns into a mean; gradients that are divided or copied by
hand; several losses of one batch; windows that a framework scales, or that a program which calls `accumulate()` never speaks of; updates
every N steps whose gradients are cleared before each backward; a truncated sequence whose parts share a graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, Reported, WrapExpression
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradients import Gradients, gradients_of
from analysis.rules._objects import confidence_in
from analysis.rules._scaling import Reduction, Scaling, framework_window, scaling_of
from analysis.rules._statements import loss_of
from analysis.rules._untold_windows import Untold, never_told
from analysis.rules._windows import Window, counts, gathers_batches, loop_source, size_of, windows
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.places import visible
from analysis.trace.reading import text


def check(trace: Trace) -> Iterator[Reported]:
    """Windows of several backwards whose loss nothing divides, or divides by a running index."""
    told: set[Span] = set()
    for gradients in gradients_of(trace):
        for window in windows(trace, gradients):
            found = _asked(trace, gradients, window) if window.stepped and not window.unsure else None
            if found is not None and found.finding.span not in told:
                told.add(found.finding.span)
                yield found
    yield from (_untold(trace, found) for found in never_told(trace))


def _asked(trace: Trace, gradients: Gradients, window: Window) -> Reported | None:
    if not window.in_one_loop() or framework_window(window.backwards[0].subject) != 1:
        return None
    loop = loop_source(trace, window.backwards[0])
    if not window.guarded and counts(loop) is None and not gathers_batches(trace, window):
        return None
    scalings = [scaling_of(event.value) for event in window.backwards]
    if all(_unscaled(each) for each in scalings):
        return _undivided(trace, gradients, window, scalings[0])
    return _by_index(trace, gradients, window, scalings)


def _unscaled(scaling: Scaling) -> bool:
    """Whether nothing scales the loss, and no term of it is known to be a sum."""
    if scaling.divided or scaling.uneven or not scaling.terms:
        return False
    return Reduction.SUM not in scaling.reductions and all(made.op != "unknown" for made in scaling.terms)


def _undivided(trace: Trace, gradients: Gradients, window: Window, scaling: Scaling) -> Reported:
    files = trace.snapshot.contents
    backward, step = window.backwards[0], window.end or window.backwards[-1]
    span = visible(backward, files)
    sure = confidence_in(gradients.optimizer)
    if Reduction.UNKNOWN in scaling.reductions:
        sure = min(sure, Confidence.MEDIUM)
    loss, steps = loss_of(trace, backward), size_of(trace, window)
    times = steps if steps is not None and steps.isdigit() else "several"  # windows are rehearsed shorter than they are
    finding = Finding(
        RULE.name,
        RULE.severity,
        sure,
        span,
        f"`{text(trace.snapshot, span)}` runs {times} times before each step, and nothing divides the loss: "
        "gradients and clipping are off by the number of micro-batches",
        (
            Evidence(span, "each micro-batch adds the gradient of its mean loss"),
            Evidence(visible(step, files), "and this step takes the sum"),
        ),
    )
    if loss is None or steps is None:
        return Reported(replace(finding, no_fix_because="how many micro-batches a window has is not written next to this backward: divide the loss by it"))
    title = f"Was the learning rate not chosen for the sum? Then divide the loss by {steps}"
    return Reported(finding, Proposal(title, Safety.REVIEW, (WrapExpression(loss, after=f" / {steps}"),)))


def _by_index(trace: Trace, gradients: Gradients, window: Window, scalings: list[Scaling]) -> Reported | None:
    """A divisor that counts up within the window."""
    first = scalings[0].divided[0] if scalings[0].divided else None
    if first is None or not all(each.divided and each.divided[0].made.span == first.made.span for each in scalings):
        return None
    divisors = [each.divided[0].divisor for each in scalings]
    numbers = [each for each in divisors if isinstance(each, int) and not isinstance(each, bool)]
    if len(numbers) < len(divisors) or any(after - before != 1 for before, after in pairwise(numbers)):
        return None
    files = trace.snapshot.contents
    backward = window.backwards[0]
    span = first.made.span if first.made.span.path in files else visible(backward, files)
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(gradients.optimizer),
        span,
        f"`{text(trace.snapshot, span)}` divides by a running index, {numbers[0]}, {numbers[1]} and so on: micro-batches of one window count less and less",
        (Evidence(span, "the divisor grows from micro-batch to micro-batch"), Evidence(visible(backward, files), "whose gradients are summed for one step")),
        no_fix_because="the loss is to be divided by the number of micro-batches of a window",
    )
    return Reported(finding)


def _untold(trace: Trace, found: Untold) -> Reported:
    effect = "divides by a window that the accelerator was never told" if found.divided else "is told no gradient_accumulation_steps"
    finding = Finding(
        RULE.name,
        Severity.ERROR if found.divided else Severity.WARNING,
        Confidence.MEDIUM,
        found.span,
        f"`{text(trace.snapshot, found.span)}` {effect}: unless the launcher says otherwise, accumulate() steps after every batch",
        (
            Evidence(found.accelerator.span or found.span, "the accelerator is built without gradient_accumulation_steps"),
            Evidence(visible(found.backward, trace.snapshot.contents), "the backward runs inside accumulate(), and a step follows each time"),
        ),
        no_fix_because="pass gradient_accumulation_steps to the accelerator" + (", and drop the division" if found.divided else ""),
    )
    return Reported(finding)


RULE = Rule(
    "unscaled-accumulation",
    Severity.ERROR,
    "gradients of several micro-batches are summed without dividing the loss",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def train(model, loader, steps=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()  # flagged
        if (i + 1) % steps == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
""",
            fixed="""
import torch

def train(model, loader, steps=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y)
        (loss / steps).backward()
        if (i + 1) % steps == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
""",
        ),
        Bad(
            """
import torch

STEPS = 8

def train(model, next_batch):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for iteration in range(1000):
        for micro in range(STEPS):
            x, y = next_batch()
            loss = torch.nn.functional.mse_loss(model(x), y)
            scaler.scale(loss).backward()  # flagged
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
""",
            fixed="""
import torch

STEPS = 8

def train(model, next_batch):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for iteration in range(1000):
        for micro in range(STEPS):
            x, y = next_batch()
            loss = torch.nn.functional.mse_loss(model(x), y)
            scaler.scale(loss / STEPS).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
""",
        ),
        Bad(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y) / (i + 1)  # flagged
        loss.backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        torch.nn.functional.mse_loss(model(x), y).backward()
        if (i + 1) % 4 == 0:
            for p in model.parameters():
                p.grad /= 4
            optimizer.step()
            optimizer.zero_grad()
"""
        ),
        Good(
            """
import torch

def train(model, loader, tokens):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(model(x), y, reduction="sum") / tokens
        loss.backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
        ),
        Good(
            """
import torch

def train(actor, critic, loader, delay=2):
    a = torch.optim.Adam(actor.parameters())
    c = torch.optim.Adam(critic.parameters())
    for i, (x, y) in enumerate(loader):
        c.zero_grad()
        torch.nn.functional.mse_loss(critic(x), y).backward()
        c.step()
        if i % delay == 0:
            a.zero_grad()
            (-critic(actor(x)).mean()).backward()
            a.step()
"""
        ),
    ),
)
