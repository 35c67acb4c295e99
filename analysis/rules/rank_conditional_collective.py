"""Only some ranks reach a collective.

`dist.barrier`, `all_reduce`, `broadcast`, FSDP's gathering of a state dict, Lightning's `self.log(…, sync_dist=True)` and the like return once
*every* rank has called them. Behind `if rank == 0:`, or after an early `return` or `break` of some ranks, the ranks that arrived wait for those that
never come: the job hangs, and dies half an hour later in the NCCL timeout with a message about another line. Where the other ranks go on to
another collective the two are taken for each other, and numbers are silently wrong.

**How to fix it.** Let every rank call the collective and put only what belongs to one rank (printing, writing the file) behind the condition.

A forward without gradients, whose partner is the next training forward of the others, is a notice: it holds them up, and no more.

**What is not reported.** Collectives of a group of their own; pairs of barriers that let rank 0 go first; conditions that all ranks answer alike.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import dropwhile

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import MoveStatement, Proposal, Reported
from analysis.library.ownership import has_buffers
from analysis.rule import Bad, Good, Rule
from analysis.rules._collectives import SAVES, by_rank, gives_up, guarded, place, who
from analysis.rules._met_elsewhere import is_met_elsewhere
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind, RankGuard
from analysis.trace.places import visible
from analysis.trace.reading import around, span_of, text

_TALKING = {"fsdp": "which collects the weights from all ranks", "ddp": "which sends buffers to all ranks and averages gradients"}
_BARRIERS = frozenset({"barrier", "monitored_barrier", "accelerator.wait_for_everyone"})


def check(trace: Trace) -> Iterator[Reported]:
    """Each condition on the rank that stands before a collective, once."""
    if trace.distributed:
        for event, guard in guarded(trace, by_rank):
            if event.subject not in SAVES and not _other_side_unread(trace, guard):
                yield _reported(trace, event, guard)
        yield from _forwards(trace)


def _forwards(trace: Trace) -> Iterator[Reported]:
    """Forwards of a wrapper that talks to the other ranks: FSDP collects weights, DistributedDataParallel sends buffers and waits in backward."""
    told: set[Span] = set()
    for event in trace.events(Kind.WRAPPED_FORWARD):
        guard = next((each for each in reversed(event.context.rank_guards) if each.zero is not each.others), None)
        sends = event.value.fields["wrapper: options"].get("broadcast_buffers") is not False and has_buffers(event.subject)
        quiet = event.detail.how == "ddp" and not event.context.grad and not sends
        if guard is None or event.detail.how not in _TALKING or quiet or guard.span in told or _others_run_it(trace, event, guard):
            continue
        if _other_side_unread(trace, guard) or is_met_elsewhere(trace, event, guard) or gives_up(trace, guard):
            continue
        told.add(guard.span)
        made_up, span = _is_made_up_for(trace, event, guard), place(trace, event, guard)
        at = "the next" if guard.until else "this"
        does = "which sends its buffers to all ranks" if made_up else _TALKING[event.detail.how]
        waits = "the others go on to their next training forward and wait there until it is over"
        effect = waits if made_up else "those which arrive wait for the rest, or take the next batch's exchange for theirs"
        yield Reported(
            Finding(
                RULE.name,
                Severity.NOTICE if made_up else RULE.severity,
                Confidence.HIGH if event.detail.how == "fsdp" else Confidence.MEDIUM,
                span,
                f"{_leaving(guard)}{who(guard)} can reach {at} forward of the wrapped model, {does}: {effect}",
                (
                    Evidence(guard.span, f"`{text(trace.snapshot, guard.span)}` has another answer on other ranks"),
                    Evidence(visible(event, trace.snapshot.contents), "the wrapper is called, not the model inside"),
                ),
                no_fix_because="either every rank evaluates its share, or one evaluates the model inside the wrapper (which sharded models do not allow)",
            )
        )


def _is_made_up_for(trace: Trace, event: Event, guard: RankGuard) -> bool:
    """Whether the next that the other ranks send is what this one sends here.

    Without gradients DistributedDataParallel sends its buffers once, and leaves them out of the next forward (``require_forward_param_sync`` in
    ``torch/nn/parallel/distributed.py``).
    """
    if event.detail.how != "ddp" or event.context.grad:
        return False
    later = dropwhile(lambda each: each is not event, trace.events(Kind.WRAPPED_FORWARD, Kind.COLLECTIVE))
    following = next((each for each in later if guard not in each.context.rank_guards), None)
    return following is not None and following.kind is Kind.WRAPPED_FORWARD and following.value is event.value


def _others_run_it(trace: Trace, event: Event, guard: RankGuard) -> bool:
    """Whether the ranks that do not get past the condition run the same wrapper on its other side."""
    return any(
        other.value is event.value and (each.zero, each.others) == (guard.others, guard.zero)
        for other in trace.events(Kind.WRAPPED_FORWARD)
        for each in other.context.rank_guards
        if each.span == guard.span and each.path == guard.path
    )


def _other_side_unread(trace: Trace, guard: RankGuard) -> bool:
    """Whether the run ended before it came to the other side of the condition, where the partner of what stands on this one may be."""
    stands = around(trace.snapshot, guard.span) if not trace.complete else None
    statements = stands.statements if stands is not None else ()
    return any(isinstance(each, ast.If) and each.orelse and span_of(trace.snapshot, guard.span.path, each.test) == guard.span for each in statements)


def _leaving(guard: RankGuard) -> str:
    """How a message about a loop that some ranks leave begins."""
    return "some ranks leave the loop here on their own: " if guard.until == "break" else ""


def _reported(trace: Trace, event: Event, guard: RankGuard) -> Reported:
    span = place(trace, event, guard)
    how = "the others have left before" if guard.until else "it stands behind a condition on the rank"
    known = guard.zero is not None or guard.others is not None
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH if known else Confidence.MEDIUM,
        span,
        f"{_leaving(guard)}{who(guard)} can reach this collective ({event.subject}): {how}, so that those which arrive wait for the rest for ever",
        (
            Evidence(guard.span, f"`{text(trace.snapshot, guard.span)}` has another answer on other ranks"),
            Evidence(span if guard.until != "break" else visible(event, trace.snapshot.contents), "every rank would have to come here"),
        ),
    )
    proposal = _outside(trace, event, guard, span)
    if proposal is None:
        return Reported(replace(finding, no_fix_because="what every rank has to do, and what only one of them may, has to be told apart by hand"))
    return Reported(finding, proposal)


def _outside(trace: Trace, event: Event, guard: RankGuard, span: Span) -> Proposal | None:
    """A barrier that is the last statement of the guarded block moves behind it."""
    stands = around(trace.snapshot, span)
    if event.subject not in _BARRIERS or event.span != span or guard.until or stands is None:
        return None
    match stands.statements[-2:]:
        case [ast.If(test=test, body=[_, *_, last]) as condition, ast.Expr() as barrier] if last is barrier:
            if span_of(trace.snapshot, span.path, test) != guard.span:
                return None
            moved, behind = span_of(trace.snapshot, span.path, barrier), span_of(trace.snapshot, span.path, condition)
            if moved is None or behind is None:
                return None
            title = "Do the other ranks have to wait here? Then let every rank come to the barrier"
            return Proposal(title, Safety.REVIEW, (MoveStatement(moved, after=behind),))
        case _:
            return None


_EXAMPLE = """
import torch
import torch.distributed as dist

def main(net, loader, sampler, path):
    dist.init_process_group("nccl")
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x in loader:
            optimizer.zero_grad()
            ddp(x).mean().backward()
            optimizer.step()
        {end}
"""
_HELPER = """
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel

def save(model, path):
    if dist.get_rank() != 0:
        return
    torch.save(model.state_dict(), path){mark}

def main(net, x, path):
    dist.init_process_group("nccl")
    model = FullyShardedDataParallel(net)
    model(x).mean().backward()
    {call}
"""
_ALONE = "if dist.get_rank() == 0:\n            "
_SAVED = _ALONE + "torch.save(net.state_dict(), path)"
_FIRST = "if dist.get_rank() != 0:\n            dist.barrier()\n        net.prepare()\n        if dist.get_rank() == 0:\n            dist.barrier()"
_EVALUATED = _ALONE + "with torch.no_grad():\n                print({model}(x)){mark}"
#: A model with buffers, which the wrapper sends before a forward even where no gradients are recorded.
_NORMALISED = _EXAMPLE.replace("(net)", "(torch.nn.Sequential(net, torch.nn.BatchNorm1d(8)))")

RULE = Rule(
    "rank-conditional-collective",
    Severity.ERROR,
    "only some ranks reach a collective",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(end=_SAVED + "\n            dist.barrier()  # flagged"), fixed=_EXAMPLE.format(end=_SAVED + "\n        dist.barrier()")),
        Bad(_HELPER.format(mark="  # flagged", call="save(model, path)")),
        Bad(_NORMALISED.format(end=_EVALUATED.format(model="ddp", mark="  # flagged") + "\n        dist.barrier()")),
        Bad(_EXAMPLE.format(end=_ALONE + "if path.exists():\n                break  # flagged")),
        Bad(_NORMALISED.format(end=_EVALUATED.format(model="ddp", mark="  # flagged"))),
        Good(_NORMALISED.format(end=_EVALUATED.format(model="ddp.module", mark=""))),
        Good(_EXAMPLE.replace("(net)", "(torch.nn.Linear(8, 8))").format(end=_EVALUATED.format(model="ddp", mark=""))),
        Good(_EXAMPLE.format(end=_SAVED + "\n        dist.barrier()")),
        Good(_EXAMPLE.format(end=_FIRST)),
        Good(_EXAMPLE.format(end="if dist.get_rank() in (0, 1):\n            dist.barrier(group=dist.new_group([0, 1]))")),
    ),
)
