"""The ranks go different ways by their own numbers.

A loss, a metric or a flag that each rank computes from its own share of the data decides whether it goes on: one rank stops early, skips a batch or
enters a save, and the others do not. Those that come to the next collective (a backward of `DistributedDataParallel` is one) wait for those
that left, and the job hangs until the NCCL timeout. `dist.reduce` leaves the result on one rank and an undefined one on the rest, so that a decision
by its value is of this kind too, and so is a list of which each rank picks items of its own, where a rank without any returns early. So is a schedule
that follows a rank's own metric: the learning rates part ways. The clock is a rank's own too: a time limit is not passed in the same batch everywhere.

**How to fix it.** Decide once: `all_reduce` the number before it is compared, or let rank 0 decide and `broadcast` the flag.

**What is not reported.** Numbers and flags that were reduced, gathered or broadcast before; branches with nothing collective behind them; raising
an exception, which ends the job.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.interpreter.values import Symbol, Value
from analysis.library.casting import Castable
from analysis.library.decisions import asks_for_time
from analysis.library.ranks import asks_for_rank
from analysis.library.tensor import Scalar, Tensor
from analysis.rule import Bad, Good, Rule
from analysis.rules._carriers import ancestors
from analysis.rules._collectives import by_rank, guarded, in_whole_group, place
from analysis.rules._objects import numbers_in
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind, RankGuard
from analysis.trace.places import visible
from analysis.trace.reading import text

_DEPTH = 8


def check(trace: Trace) -> Iterator[Reported]:
    """Each condition on a rank's own numbers that stands before something all ranks do together, once."""
    if not trace.distributed:
        return
    told: set[Span] = set()
    for event in trace.events(Kind.SCHEDULER_STEP):
        if event.span not in told and any(_is_own(value) for value in event.detail):
            told.add(event.span)
            yield _own_schedule(trace, event)
    for event, guard in (*guarded(trace, _by_data), *_averaging(trace)):
        if guard.span not in told and guard.span.path in trace.snapshot.contents:
            told.add(guard.span)
            yield _reported(trace, event, guard)


def _by_data(guard: RankGuard) -> bool:
    return not by_rank(guard)


def _averaging(trace: Trace) -> Iterator[tuple[Event, RankGuard]]:
    """Backwards that average gradients over ranks, behind such a condition."""
    averaging = {event.detail.forward for event in trace.events(Kind.WRAPPED_FORWARD) if event.detail.how in {"ddp", "fsdp"} and event.detail.averages is True}
    for event in trace.events(Kind.BACKWARD):
        guard = next((each for each in reversed(event.context.rank_guards) if _by_data(each)), None)
        if guard is not None and numbers_in([event.value]) & averaging:
            yield event, guard


def _is_own(value: Value) -> bool:
    return getattr(value, "rank_varying", False) is True and not asks_for_rank(value)


def _own_schedule(trace: Trace, event: Event) -> Reported:
    span = visible(event, trace.snapshot.contents)
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH,
        span,
        "the schedule follows a number of this rank's own: ranks lower the learning rate at different times, and their weights part ways",
        (Evidence(span, "the number was computed from this rank's share of the data and not reduced over the ranks"),),
        no_fix_because="the number has to be reduced over the ranks before the schedule sees it",
    )
    return Reported(finding)


def _reported(trace: Trace, event: Event, guard: RankGuard) -> Reported:
    what = "averages gradients over the ranks" if event.kind is Kind.BACKWARD else f"is a collective ({event.subject})"
    behind = place(trace, event, guard)
    reduced = _reduced_onto_one(guard.condition)
    own = "each rank reads its own clock" if asks_for_time(guard.condition) else "each rank has its own value"
    why = "`reduce` leaves the result on one rank only" if reduced else own
    finding = Finding(
        RULE.name,
        RULE.severity,
        _confidence(trace, event, guard, reduced=reduced),
        guard.span,
        f"ranks may answer `{text(trace.snapshot, guard.span)}` differently ({why}), and what it decides about {what}: some ranks wait there for ever",
        (
            Evidence(guard.span, f"decided by a value that differs between ranks: {why}"),
            Evidence(behind, f"this {what}: every rank would have to come here"),
        ),
        no_fix_because="the value has to be reduced over the ranks before it is compared, or one rank has to decide for all",
    )
    return Reported(finding)


def _is_told_by_unknown_methods(condition: Value) -> bool:
    """Whether all of what differs between ranks in a condition was given by methods of objects that are not known."""
    operands = getattr(condition, "test", ())[1:]
    if not operands:
        return isinstance(condition, Castable) and isinstance(condition.callee, Castable)
    varying = [each for each in operands if getattr(each, "rank_varying", False) is True]
    return bool(varying) and all(map(_is_told_by_unknown_methods, varying))


def _confidence(trace: Trace, event: Event, guard: RankGuard, *, reduced: bool) -> Confidence:
    """A loop that goes round as long as a condition holds may hold it the same number of times on every rank; a method may have asked the others."""
    if (guard.until and guard.exit is None) or _is_told_by_unknown_methods(guard.condition):
        return Confidence.LOW
    return Confidence.HIGH if reduced or (event.kind is Kind.COLLECTIVE and in_whole_group(trace, event)) else Confidence.MEDIUM


def _reduced_onto_one(value: Value, depth: int = _DEPTH) -> bool:
    """Whether a ``dist.reduce`` went into the value."""
    match value:
        case Scalar(tensor=tensor):
            return _reduced_onto_one(tensor, depth)
        case Tensor():
            return any(each.made is not None and each.made.op == "reduce" for each in ancestors(value))
        case Symbol(test=test) if depth:
            return any(_reduced_onto_one(part, depth - 1) for part in test[1:])
    return False


_EXAMPLE = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

def main(net):
    dist.init_process_group("nccl")
    dataset = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        total = torch.zeros(())
        for x, y in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(ddp(x), y)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        {before}if total.item() < 0.1:{mark}
            break
"""

_PICKED = """
import torch
import torch.distributed as dist

def norm(parameters):
    rank = dist.get_rank()
    grads = [p.grad.detach() for i, p in enumerate(parameters) if i % dist.get_world_size() == rank]
{empty}
    dist.all_reduce(total, group=dist.new_group())
    return total.item()

dist.init_process_group("nccl")
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in loader:
    optimizer.zero_grad()
    net(x).mean().backward()
    norm(net.parameters())
    optimizer.step()
"""
_EARLY = "    if not grads:  # flagged\n        return 0.0\n    total = torch.stack([g.norm() for g in grads]).sum()"
_EVEN = "    total = torch.stack([g.norm() for g in grads]).sum() if grads else torch.zeros(())"

RULE = Rule(
    "rank-divergent-branch",
    Severity.ERROR,
    "the ranks go different ways by their own numbers",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(before="", mark="  # flagged")),
        Bad(_EXAMPLE.format(before="dist.reduce(total, dst=0)\n        ", mark="  # flagged")),
        Bad(_PICKED.format(empty=_EARLY)),
        Good(_PICKED.format(empty=_EVEN)),
        Good(_EXAMPLE.format(before="dist.all_reduce(total)\n        ", mark="")),
        Good(_EXAMPLE.format(before="if not torch.isfinite(total):\n            raise ValueError(total)\n        dist.all_reduce(total)\n        ", mark="")),
    ),
)
