"""Every epoch has the same order.

A `DistributedSampler` draws its order from its seed and the number of the epoch. The number changes only when `set_epoch` is called; until then
every epoch brings the same samples in the same order, in the same batches, on the same ranks. Nothing complains: training is only a
little worse than it could be, on several GPUs and never on one.

**How to fix it.** `loader.sampler.set_epoch(epoch)` at the start of every epoch, before the loader is iterated.

**What is not reported.** Samplers that do not shuffle; loaders that are iterated once, or evaluate; loaders that Accelerate, Lightning,
Transformers, Composer or another framework iterates or has prepared: they call it themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.enclosing import expression_at
from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import InsertBefore, Proposal, Reported
from analysis.interpreter.values import Instance, Symbol
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import confidence_in, distinct
from analysis.rules._samplers import divides, draws_by_epoch, prepared, samplers_of, shuffles
from analysis.rules._training_data import only_evaluates
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import frames
from analysis.trace.reading import around, dotted, span_of


def check(trace: Trace) -> Iterator[Reported]:
    """Loaders that are iterated again and again, whose sampler shuffles and is never told the epoch."""
    if not trace.distributed:
        return
    told = {id(sampler) for sampler in distinct(event.subject for event in trace.events(Kind.SET_EPOCH) if _told_again(trace, event))}
    for loader in distinct(event.subject for event in trace.events(Kind.ITERATE)):
        samplers = samplers_of(loader)
        own = next((each for each in samplers if draws_by_epoch(each) and not trace.calls("set_epoch")), None)
        sampler = own or next((each for each in samplers if divides(each) and "epoch" not in each.fields), None)
        if sampler is None or id(sampler) in told or prepared(loader):
            continue
        asked = trace.flags and isinstance(sampler.fields.get("shuffle"), Symbol)  # a setting counts as given
        if own is None and not shuffles(sampler) and not asked:
            continue
        again = _iterated_again(trace, loader)
        if again is not None and not only_evaluates(trace, loader):
            yield _reported(trace, loader, sampler, again)


def _told_again(trace: Trace, told: Event) -> bool:
    """Whether a sampler is told the epoch in a loop, or in one function with all there is of it: not once for all epochs that follow."""
    loops = [event.context.stamp for event in trace.events(Kind.ITERATE) if any(told.subject is each for each in samplers_of(event.subject))]
    return bool(told.context.stamp) or not loops or not all(loops)


def _iterated_again(trace: Trace, loader: Instance) -> Event | None:
    """Where the repository's code iterates over the loader to train, more than once."""
    events: list[Event] = []
    evaluating = False
    for event in trace.events(Kind.ITERATE, Kind.EVAL_MODE, Kind.TRAIN_MODE):
        if event.kind is not Kind.ITERATE:
            evaluating = event.kind is Kind.EVAL_MODE
        elif event.subject is loader and event.context.grad and not evaluating and event.span.path in trace.snapshot.contents:
            events.append(event)
    if len(events) > 1:
        return next((event for event in events if event.context.stamp), events[0])
    return next((event for event in events if len(loader.stamp) < len(event.context.stamp) and _in_a_loop(trace, event)), None)


def _in_a_loop(trace: Trace, event: Event) -> bool:
    """Whether a loop stands around the one that iterates that goes round again, sooner or later, or as often as a setting says."""
    for span in frames(event):
        stands = around(trace.snapshot, span) if span.path in trace.snapshot.contents else None
        if stands is None:
            continue
        inner = stands.statements[:-1] if span == event.span else stands.statements
        if any(_goes_round(each) for each in inner):
            return True
    return False


def _goes_round(statement: ast.stmt) -> bool:
    match statement:
        case ast.While():
            return True
        case ast.For(iter=ast.Call(func=ast.Name(id="range" | "trange"), args=[*_, end])):
            return not isinstance(end, ast.Constant)
    return False


def _reported(trace: Trace, loader: Instance, sampler: Instance, event: Event) -> Reported:
    evidence = [Evidence(event.span, "the loader is iterated here, epoch after epoch")]
    if sampler.span is not None:
        evidence.insert(0, Evidence(sampler.span, "this sampler shuffles by its seed and the epoch it was told"))
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(loader),
        event.span,
        "every epoch has the same order: the sampler shuffles by its seed and epoch, and set_epoch is never called",
        tuple(evidence),
    )
    proposal = _told(trace, loader, sampler, event)
    if proposal is None:
        return Reported(replace(finding, no_fix_because="no variable counts the epochs here: count them and call set_epoch before each pass"))
    return Reported(finding, proposal)


def _told(trace: Trace, loader: Instance, sampler: Instance, event: Event) -> Proposal | None:
    """``set_epoch`` before the loop over batches, if the loop around it counts."""
    stands, name = around(trace.snapshot, event.span), _name(trace, event.span)
    if stands is None or name is None or loader.fields.get("sampler") is not sampler:
        return None
    match stands.statements[-2:]:
        case [ast.For(target=ast.Name(id=epoch), iter=ast.Call(func=ast.Name(id="range" | "trange"))), ast.For() as over] if epoch != "_":
            inner = span_of(trace.snapshot, event.span.path, over)
        case _:
            return None
    if inner is None:
        return None
    return Proposal(f"Does {epoch} count the epochs? Then tell the sampler", Safety.REVIEW, (InsertBefore(inner, (f"{name}.sampler.set_epoch({epoch})",)),))


def _name(trace: Trace, span: Span) -> str | None:
    """The loader as it is named where it is iterated, within ``enumerate`` or a progress bar too."""
    source = trace.snapshot.source(span.path)
    found = expression_at(source, span) if isinstance(source, SourceFile) else None
    while isinstance(found, ast.Call) and found.args:
        found = found.args[0]
    return dotted(found) if found is not None else None


_EXAMPLE = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

def main(net):
    dist.init_process_group("nccl")
    dataset = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    loader = DataLoader(dataset, batch_size=8, sampler=DistributedSampler(dataset{options}))
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(3):
        {before}for x, y in loader:{mark}
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(ddp(x), y).backward()
            optimizer.step()
"""
_TOLD = "loader.sampler.set_epoch(epoch)\n        "

RULE = Rule(
    "missing-set-epoch",
    Severity.WARNING,
    "every epoch has the same order",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(options="", before="", mark="  # flagged"), fixed=_EXAMPLE.format(options="", before=_TOLD, mark="")),
        Good(_EXAMPLE.format(options="", before=_TOLD, mark="")),
        Good(_EXAMPLE.format(options=", shuffle=False", before="", mark="")),
    ),
)
