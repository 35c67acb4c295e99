"""The optimizer is built before the model is sharded.

`FullyShardedDataParallel` and `fully_shard` replace a model's parameters by sharded ones. An optimizer that was built before holds the old
ones: its steps change nothing that the model uses.

**How to fix it.** Wrap first, then build the optimizer from the wrapped model's parameters.

**What is not reported.** `DistributedDataParallel`, `DataParallel`, `torch.compile` and `.to(device)`, which keep the parameters;
`FullyShardedDataParallel(…, use_orig_params=True)`, which keeps the parameter objects and makes them views of its shards; an
optimizer that is built again after the wrapping; wrappers of frameworks that put the optimizer right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import MoveStatement, Proposal, Reported
from analysis.interpreter.values import Instance
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import Holdings, confidence_in, optimizers
from analysis.rules._statements import siblings
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import meeting, visible
from analysis.trace.reading import text

_SHARDING = frozenset({"fsdp", "fsdp2"})


def check(trace: Trace) -> Iterator[Reported]:
    """An optimizer that steps, whose model was wrapped after it was built."""
    stepping = {id(optimizer) for optimizer in optimizers(trace)}
    holdings = Holdings()
    built: list[Event] = []
    for event in trace.events(Kind.OPTIMIZER_BUILT, Kind.WRAP):
        if event.kind is Kind.OPTIMIZER_BUILT:
            built.append(event)
        elif event.detail in _SHARDING and isinstance(event.subject, Instance) and not _keeps_parameters(event):
            early = next((each for each in built if id(each.subject) in stepping and holdings.shared(each.value.owners, [event.subject])), None)
            if early is not None:
                built.remove(early)
                yield _reported(trace, early, event)


def _keeps_parameters(wrap: Event) -> bool:
    """Whether the wrapper may be told to go on with the model's own parameter objects."""
    options = wrap.value.fields.get("wrapper: options", {}) if wrap.detail == "fsdp" and isinstance(wrap.value, Instance) else {}
    return options.get("use_orig_params", False) is not False


def _reported(trace: Trace, built: Event, wrap: Event) -> Reported:
    files = trace.snapshot.contents
    span = meeting(built, wrap, files)
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(wrap.subject),
        span,
        f"`{text(trace.snapshot, span)}` takes the parameters before the model is sharded: the model trains others, and this optimizer updates none of them",
        (
            Evidence(visible(built, files), "the optimizer takes the model's parameters"),
            Evidence(visible(wrap, files), "here they are replaced by sharded ones"),
        ),
    )
    places = siblings(trace.snapshot, built.span, wrap.span) if built.path == wrap.path else None
    if places is None:
        return Reported(replace(finding, no_fix_because="model and optimizer are set up in different places: build the optimizer after the wrapping"))
    title = "Does the optimizer take its parameters from the wrapped model? Then build it after the wrapping"
    return Reported(finding, Proposal(title, Safety.REVIEW, (MoveStatement(places[0], after=places[1]),)))


RULE = Rule(
    "optimizer-before-wrap",
    Severity.ERROR,
    "the optimizer is built before the model is sharded",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

def train(model, loader):
    torch.distributed.init_process_group("nccl")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # flagged
    model = FSDP(model)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
""",
            fixed="""
import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

def train(model, loader):
    torch.distributed.init_process_group("nccl")
    model = FSDP(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
""",
        ),
        Good(
            """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def train(model, loader):
    torch.distributed.init_process_group("nccl")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model = DDP(model)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

def train(model, loader):
    torch.distributed.init_process_group("nccl")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model = FSDP(model, use_orig_params=True)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""
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
        optimizer.step()
"""
        ),
    ),
)
