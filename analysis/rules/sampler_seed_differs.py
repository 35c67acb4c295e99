"""The ranks shuffle differently.

A `DistributedSampler` gives each rank its slice of *one* shuffled order, which all of them draw from the same seed. With a seed that differs between
ranks each takes its slice of another order: the slices overlap, some samples come several times in an epoch, and others never.

**How to fix it.** Give every rank the same seed; the rank is the sampler's business.

**What is not reported.** Seeds of other generators: augmentation and dropout may well differ between ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, RemoveArgument, Reported
from analysis.rule import Bad, Good, Rule
from analysis.rules._samplers import divides, samplers_of, shuffles
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Kind
from analysis.trace.reading import call_at


def check(trace: Trace) -> Iterator[Reported]:
    """Samplers that divide the data by an order which differs between ranks."""
    told: set[Span] = set()
    for event in trace.events(Kind.LOADER_BUILT):
        for sampler in samplers_of(event.subject):
            seed = sampler.fields.get("seed")
            varies = getattr(seed, "rank_varying", False) is True
            if trace.distributed and divides(sampler) and shuffles(sampler) and varies and sampler.span is not None and sampler.span not in told:
                told.add(sampler.span)
                yield _reported(trace, sampler.span)


def _reported(trace: Trace, span: Span) -> Reported:
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH,
        span,
        "the sampler's seed differs between ranks: they shuffle differently, so that their shares of the data overlap and leave samples out",
        (Evidence(span, "each rank takes its slice of the order that this seed gives"),),
    )
    call = call_at(trace.snapshot, span)
    if call is not None and any(keyword.arg == "seed" for keyword in call.keywords):
        title = "Is the default seed good enough for the order? Then leave it to the sampler"
        return Reported(finding, Proposal(title, Safety.REVIEW, (RemoveArgument(span, "seed"),)))
    return Reported(replace(finding, no_fix_because="the seed is not written as a keyword of this call"))


_EXAMPLE = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

def main(net, seed):
    dist.init_process_group("nccl")
    torch.manual_seed(seed + dist.get_rank())
    dataset = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    sampler = DistributedSampler(dataset{options})
    loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(ddp(x), y).backward()
            optimizer.step()
"""

RULE = Rule(
    "sampler-seed-differs",
    Severity.ERROR,
    "the ranks shuffle differently",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(options=", seed=seed + dist.get_rank())  # flagged").replace("flagged)", "flagged"), fixed=_EXAMPLE.format(options="")),
        Good(_EXAMPLE.format(options=", seed=seed")),
        Good(_EXAMPLE.format(options=", rank=dist.get_rank(), num_replicas=dist.get_world_size()")),
    ),
)
