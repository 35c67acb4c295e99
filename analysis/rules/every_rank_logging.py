"""Every rank opens its own run of the experiment tracker, or prints its own loss in every step.

`wandb.init`, `mlflow.start_run`, a `SummaryWriter` and the like, called by every process: one training appears as as many runs as there are ranks, each
with the numbers of one shard, or several processes write into one. A `print` of the loss in each training step gives as many lines per step as there
are ranks, mixed, each with the number of one shard, and each process waits for its GPU to write it.

**How to fix it.** Open the run, and print, on rank 0 alone; log behind the same condition.

**What is not reported.** Runs that are put into a group or given a name or mode of their own on each rank; trackers that a framework
opens (Lightning, Accelerate, Transformers): they do it on rank 0. Prints every n steps or once per epoch, and those of the rank itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.library.ranks import asks_for_rank
from analysis.rule import Bad, Good, Rule
from analysis.rules._ranks import depends_on_rank
from analysis.rules._worlds import on_every_rank, several_ranks, where_it_shows
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible

#: The calls that open a run.
_OPENING = frozenset({"init", "start_run", "init_run", "SummaryWriter", "Run", "Experiment"})
#: Arguments by which a process says that its run is one of several, or none.
_SEVERAL = frozenset({"group", "mode", "nested"})
#: What happens in fewer iterations than these is not taken for something that happens in every step.
_ENOUGH = 3


def check(trace: Trace) -> Iterator[Reported]:
    """Each call that opens a run on every rank."""
    if not several_ranks(trace):
        return
    yield from _opened(trace)
    printed = _in_every_step(trace)
    if printed is not None:
        yield _reported(trace, printed, "every rank prints the number of its own shard here, in every step: no condition on the rank stands before it")


def _opened(trace: Trace) -> Iterator[Reported]:
    told: set[Span] = set()
    for event in trace.events(Kind.LOG):
        if event.subject not in _OPENING or not isinstance(event.detail, dict) or event.span in told or not on_every_rank(trace, event):
            continue
        given = (*event.value, *event.detail.values())
        if event.span.path in trace.snapshot.contents and not _SEVERAL & event.detail.keys() and not depends_on_rank(trace.snapshot, given):
            told.add(event.span)
            yield _reported(trace, event, "every rank opens a run of its own here: no condition on the rank stands before it")


def _in_every_step(trace: Trace) -> Event | None:
    """The first print of what differs between ranks that happens in each iteration of a loop that trains, of several."""
    trained: dict[int, set[int]] = {}
    for event in trace.events(Kind.BACKWARD):
        for loop, turn in event.context.stamp[-1:]:
            trained.setdefault(loop, set()).add(turn)
    found: dict[Span, tuple[Event, set[int]]] = {}
    for event in trace.events(Kind.PRINT):
        loop, turn = event.context.stamp[-1] if event.context.stamp else (-1, 0)
        if len(trained.get(loop, ())) >= _ENOUGH and on_every_rank(trace, event) and not trace.undecided(event) and not _names_its_rank(event):
            found.setdefault(event.span, (event, set()))[1].add(turn)
    needed = max(map(len, trained.values()), default=0)
    return next((event for event, turns in found.values() if len(turns) >= needed), None)


def _names_its_rank(event: Event) -> bool:
    """Whether each line says which rank wrote it."""
    return any(asks_for_rank(value) for value in event.value)


def _reported(trace: Trace, event: Event, message: str) -> Reported:
    span = visible(event, trace.snapshot.contents)
    start = where_it_shows(trace)
    return Reported(
        Finding(
            RULE.name,
            RULE.severity,
            Confidence.MEDIUM if trace.undecided(event) else Confidence.HIGH,
            span,
            message,
            (Evidence(visible(start, trace.snapshot.contents), "the program runs on several ranks"), Evidence(span, "each of them comes here")),
            no_fix_because="what the other ranks do instead has to be decided where it is used",
        )
    )


_EXAMPLE = """
import torch
import torch.distributed as dist
import wandb

def main(net, loader, sampler):
    dist.init_process_group("nccl")
    {opened}
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x in loader:
            optimizer.zero_grad()
            ddp(x).mean().backward()
            optimizer.step()
"""

_PRINTS = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def main(net, data):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for step, x in enumerate(DataLoader(data, sampler=DistributedSampler(data))):
        optimizer.zero_grad()
        loss = ddp(x).mean()
        loss.backward()
        optimizer.step()
        {shown}
"""

RULE = Rule(
    "every-rank-logging",
    Severity.NOTICE,
    "every rank opens its own run of the experiment tracker, or prints in every step",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(opened='wandb.init(project="x")  # flagged')),
        Good(_EXAMPLE.format(opened='if dist.get_rank() == 0:\n        wandb.init(project="x")')),
        Good(_EXAMPLE.format(opened='wandb.init(project="x", mode="online" if dist.get_rank() == 0 else "disabled")')),
        Good(_EXAMPLE.format(opened='wandb.init(project="x", group="ddp")')),
        Bad(_PRINTS.format(shown="print(step, loss.item())  # flagged")),
        Good(_PRINTS.format(shown="if rank == 0:\n            print(step, loss.item())")),
        Good(_PRINTS.format(shown="if step % 4 == 0:\n            print(step, loss.item())")),
        Good(_PRINTS.format(shown="print(rank, loss.item())")),
        Good(_PRINTS.format(shown='print(f"[{rank}] {loss.item()}")')),
    ),
)
