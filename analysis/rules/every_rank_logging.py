"""Every rank opens its own run of the experiment tracker.

`wandb.init`, `mlflow.start_run`, a `SummaryWriter` and the like, called by every process: one training appears as as many runs as there are ranks, each
with the numbers of one shard, or several processes write into one.

**How to fix it.** Open the run on rank 0 alone, and log behind the same condition.

**What is not reported.** Runs that are put into a group or given a name or mode of their own on each rank; trackers that a framework
opens (Lightning, Accelerate, Transformers): they do it on rank 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.rule import Bad, Good, Rule
from analysis.rules._ranks import depends_on_rank
from analysis.rules._worlds import on_every_rank, several_ranks
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible

#: The calls that open a run.
_OPENING = frozenset({"init", "start_run", "init_run", "SummaryWriter", "Run", "Experiment"})
#: Arguments by which a process says that its run is one of several, or none.
_SEVERAL = frozenset({"group", "mode", "nested"})


def check(trace: Trace) -> Iterator[Reported]:
    """Each call that opens a run on every rank."""
    if not several_ranks(trace):
        return
    told: set[Span] = set()
    for event in trace.events(Kind.LOG):
        if event.subject not in _OPENING or not isinstance(event.detail, dict) or event.span in told or not on_every_rank(event):
            continue
        given = (*event.value, *event.detail.values())
        if event.span.path in trace.snapshot.contents and not _SEVERAL & event.detail.keys() and not depends_on_rank(trace.snapshot, given):
            told.add(event.span)
            yield _reported(trace, event)


def _reported(trace: Trace, event: Event) -> Reported:
    span = visible(event, trace.snapshot.contents)
    start = next(trace.events(Kind.INIT_DISTRIBUTED), None) or next(trace.events(Kind.WRAP))
    return Reported(
        Finding(
            RULE.name,
            RULE.severity,
            Confidence.MEDIUM if trace.undecided(event) else Confidence.HIGH,
            span,
            "every rank opens a run of its own here: no condition on the rank stands before it",
            (Evidence(visible(start, trace.snapshot.contents), "the program runs on several ranks"), Evidence(span, "each of them comes here")),
            no_fix_because="what the other ranks use in place of the run has to be decided where it is used",
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

RULE = Rule(
    "every-rank-logging",
    Severity.NOTICE,
    "every rank opens its own run of the experiment tracker",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(opened='wandb.init(project="x")  # flagged')),
        Good(_EXAMPLE.format(opened='if dist.get_rank() == 0:\n        wandb.init(project="x")')),
        Good(_EXAMPLE.format(opened='wandb.init(project="x", mode="online" if dist.get_rank() == 0 else "disabled")')),
        Good(_EXAMPLE.format(opened='wandb.init(project="x", group="ddp")')),
    ),
)
