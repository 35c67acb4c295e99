"""Sharded gradients are clipped by a function that sees one shard only.

Under `FullyShardedDataParallel` each rank holds a part of every gradient. `torch.nn.utils.clip_grad_norm_` computes the norm of
that part: each rank scales by its own factor, and parts of one parameter are scaled differently.

**How to fix it.** `model.clip_grad_norm_(max_norm)`, the wrapper's own method, which reduces the norm over ranks.

**What is not reported.** `fully_shard` (its parameters are distributed tensors, whose norm is the whole one); clipping by value, which looks at
each element alone; clipping by a framework.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, ReplaceExpression, Reported
from analysis.interpreter.values import Instance
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import confidence_in, inner, owners_in_subject
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import call_at, span_of, text


def check(trace: Trace) -> Iterator[Reported]:
    """A plain clip of the norm of a model that was wrapped before."""
    wrapped: dict[int, Event] = {}
    told: set[Span] = set()
    for event in trace.events(Kind.WRAP, Kind.CLIP):
        if event.kind is Kind.WRAP and event.detail == "fsdp":
            wrapped[id(inner(event.subject))] = event
        elif event.kind is Kind.CLIP and isinstance(event.detail, dict) and "max_norm" in event.detail and event.span not in told:
            wrap = next((wrapped[id(inner(owner))] for owner in owners_in_subject(event.subject) if id(inner(owner)) in wrapped), None)
            if wrap is not None:
                told.add(event.span)
                yield _reported(trace, wrap, event)


def _reported(trace: Trace, wrap: Event, clip: Event) -> Reported:
    files = trace.snapshot.contents
    span = visible(clip, files)
    model = wrap.subject
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(model) if isinstance(model, Instance) else confidence_in(),
        span,
        f"`{text(trace.snapshot, span)}` sees this rank's shard of the gradients only: every rank scales by a factor of its own",
        (
            Evidence(visible(wrap, files), "the model's parameters and gradients are sharded here"),
            Evidence(span, "the norm is computed of one shard"),
        ),
    )
    match call_at(trace.snapshot, span):
        case ast.Call(args=[ast.Call(func=ast.Attribute(value=owner, attr="parameters"), args=[]), limit], keywords=[]):
            pass
        case ast.Call(args=[ast.Call(func=ast.Attribute(value=owner, attr="parameters"), args=[])], keywords=[ast.keyword(arg="max_norm", value=limit)]):
            pass
        case _:
            return Reported(
                replace(finding, no_fix_because="what is clipped here is not plainly model.parameters() with a limit: use the wrapper's clip_grad_norm_")
            )
    name, value = (text(trace.snapshot, each) if (each := span_of(trace.snapshot, span.path, node)) else "" for node in (owner, limit))
    return Reported(
        finding, Proposal(f"Clip by the wrapper: {name}.clip_grad_norm_", Safety.SAFE, (ReplaceExpression(span, f"{name}.clip_grad_norm_({value})"),))
    )


RULE = Rule(
    "fsdp-clip",
    Severity.ERROR,
    "sharded gradients are clipped by a function that sees one shard only",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

def train(net, loader):
    torch.distributed.init_process_group("nccl")
    model = FSDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # flagged
        optimizer.step()
""",
            fixed="""
import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

def train(net, loader):
    torch.distributed.init_process_group("nccl")
    model = FSDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        model.clip_grad_norm_(1.0)
        optimizer.step()
""",
        ),
        Good(
            """
import torch
from torch.distributed.fsdp import fully_shard

def train(model, loader):
    torch.distributed.init_process_group("nccl")
    fully_shard(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
"""
        ),
        Good(
            """
import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

def train(net, loader):
    torch.distributed.init_process_group("nccl")
    model = FSDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        torch.nn.utils.clip_grad_value_(model.parameters(), 1.0)
        optimizer.step()
"""
        ),
    ),
)
