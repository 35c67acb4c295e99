"""A backward runs inside the autocast region.

Each operation of the backward runs in the type that autocast chose for its forward; the region is meant for the forward and the loss. PyTorch
advises against a backward inside it.

**How to fix it.** End the `with torch.autocast(...)` block before `backward()`.

**What is not reported.** A backward that a framework runs; a region that is switched off.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import MoveStatement, Proposal, Reported
from analysis.rule import Bad, Good, Rule
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.reading import around, span_of, text


def check(trace: Trace) -> Iterator[Reported]:
    """Each place of a backward in an autocast region."""
    told: set[Span] = set()
    for event in trace.events(Kind.BACKWARD):
        if event.context.autocast and event.subject is None and event.span not in told and event.span.path in trace.snapshot.contents:
            told.add(event.span)
            yield _reported(trace, event)


def _reported(trace: Trace, backward: Event) -> Reported:
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH,
        backward.span,
        f"`{text(trace.snapshot, backward.span)}` runs inside an autocast region: the region is meant for the forward and the loss",
        (Evidence(backward.span, "autocast is on when this backward runs"),),
    )
    stands = around(trace.snapshot, backward.span)
    region = next((each for each in reversed(stands.statements[:-1]) if isinstance(each, ast.With)), None) if stands else None
    if stands is None or region is None or stands.statement is None or region.body[-1] is not stands.statement or region.body[0] is stands.statement:
        return Reported(replace(finding, no_fix_because="the backward is not the last statement of the region's block"))
    statement, whole = (span_of(trace.snapshot, backward.span.path, each) for each in (stands.statement, region))
    if statement is None or whole is None:
        return Reported(replace(finding, no_fix_because="the region begins in another file"))
    return Reported(finding, Proposal("End the autocast region before the backward", Safety.SAFE, (MoveStatement(statement, after=whole),)))


RULE = Rule(
    "backward-in-autocast",
    Severity.NOTICE,
    "a backward runs inside the autocast region",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()  # flagged
        optimizer.step()
""",
            fixed="""
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
""",
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", enabled=False):
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
        optimizer.step()
"""
        ),
    ),
)
