"""Gradients are cleared for every micro-batch, but used only every few.

The step runs once per window, the clearing in every iteration: what all micro-batches but the last have computed is thrown away. Training costs
the whole window and learns from one micro-batch.

**How to fix it.** Clear the gradients where they have been used: right after the step.

**What is not reported.** A second optimizer whose update runs every few iterations with a backward of its own; gradients that are read or
copied by hand before they are cleared; a clearing that an undecided branch may skip (a batch whose loss is not finite).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import MoveStatement, Proposal, Reported
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradients import Gradients, gradients_of
from analysis.rules._objects import confidence_in
from analysis.rules._statements import behind_dispatch, is_alone
from analysis.rules._windows import Window, in_turns, windows
from analysis.trace import Trace
from analysis.trace.places import meeting, visible
from analysis.trace.reading import statement_of, text

#: So many micro-batches are thrown away before one is used, or so many windows begin like that: once alone may be meant.
_OFTEN = 2


def check(trace: Trace) -> Iterator[Reported]:
    """Backwards of one place, some of which are cleared and some used, within one run of a loop."""
    for gradients in gradients_of(trace):
        lost: list[Window] = []
        times = 0
        for window in windows(trace, gradients):
            if not window.stepped:
                lost.append(window)
                continue
            if lost and _same_loop([*lost, window]):
                times += 1
                if times == _OFTEN or sum(len(each.backwards) for each in lost) >= _OFTEN:
                    yield _reported(trace, gradients, lost[-1], window)
                    break
            lost = []


def _same_loop(parts: list[Window]) -> bool:
    events = [event for part in parts for event in part.backwards]
    if any(part.unsure or not part.backwards for part in parts) or any(part.stepped for part in parts[:-1]):
        return False
    return in_turns(events)


def _reported(trace: Trace, gradients: Gradients, lost: Window, used: Window) -> Reported:
    files = trace.snapshot.contents
    zero, step, backward = lost.end or lost.backwards[-1], used.end or used.backwards[-1], lost.backwards[0]
    span = visible(zero, files) if zero.path == backward.path else behind_dispatch(trace.snapshot, meeting(zero, step, files), visible(zero, files))
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(gradients.optimizer),
        span,
        f"`{text(trace.snapshot, span)}` clears the gradients of every micro-batch, while the step runs only once per window: all but the last are thrown away",
        (
            Evidence(visible(backward, files), "a micro-batch adds its gradients"),
            Evidence(visible(zero, files), "they are cleared before any step has used them"),
            Evidence(visible(step, files), "the step uses what the last micro-batch left"),
        ),
    )
    after, place = statement_of(trace.snapshot, step.span), statement_of(trace.snapshot, zero.span)
    if zero.path != step.path or after is None or place is None or zero.span.path not in files or not is_alone(trace.snapshot, zero.span):
        return Reported(replace(finding, no_fix_because="clearing and step are in different functions: clear right after the step"))
    return Reported(finding, Proposal("Clear the gradients after the step that uses them", Safety.SAFE, (MoveStatement(place, after=after),)))


RULE = Rule(
    "zero-grad-in-accumulation",
    Severity.ERROR,
    "gradients are cleared for every micro-batch, but used only every few",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()  # flagged
        (torch.nn.functional.mse_loss(model(x), y) / 4).backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
""",
            fixed="""
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        (torch.nn.functional.mse_loss(model(x), y) / 4).backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
        ),
        Bad(
            """
import torch
from accelerate import Accelerator

def train(model, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()  # flagged
            accelerator.backward(loss)
            optimizer.step()
""",
            fixed="""
import torch
from accelerate import Accelerator

def train(model, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
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
        Good(
            """
import torch

def train(generator, critic, loader):
    g = torch.optim.Adam(generator.parameters())
    d = torch.optim.Adam(critic.parameters())
    for i, real in enumerate(loader):
        fake = generator(torch.randn_like(real))
        d.zero_grad()
        (critic(fake).mean() - critic(real).mean()).backward()
        d.step()
        if i % 5 == 0:
            g.zero_grad()
            (-critic(generator(torch.randn_like(real))).mean()).backward()
            g.step()
"""
        ),
        Good(
            """
import torch

def train(model, tasks):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(100):
        sums = {}
        for x, y in tasks:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            for name, p in model.named_parameters():
                sums[name] = sums.get(name, 0) + p.grad.clone()
        for name, p in model.named_parameters():
            p.grad = sums[name]
        optimizer.step()
"""
        ),
    ),
)
