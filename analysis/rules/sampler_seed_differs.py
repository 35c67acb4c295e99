"""The ranks shuffle differently.

A `DistributedSampler` gives each rank its slice of *one* shuffled order, which all of them draw from the same seed. With a seed that differs between
ranks each takes its slice of another order: the slices overlap, some samples come several times in an epoch, and others never.

A sampler of one's own that shuffles with the global generator does so too, once the ranks have drawn from theirs different numbers of times (a rank
that evaluates or generates alone is enough). A framework that divides its order between the ranks keeps the ranks' generators alike only through the
sampler's attribute `generator`.

**How to fix it.** Give every rank the same seed; the rank is the sampler's business. Let a sampler of your own draw from a generator that it keeps as
`self.generator`, or that it seeds with the epoch.

**What is not reported.** Seeds of other generators: augmentation and dropout may well differ between ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, RemoveArgument, Reported
from analysis.interpreter.values import Instance, Symbol, Value
from analysis.library.randomness import FRESH, SEEDED
from analysis.library.ranks import asks_for_rank
from analysis.rule import Bad, Good, Rule
from analysis.rules._samplers import divides, picks_by_rank, prepared, samplers_of, shuffles
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Kind
from analysis.trace.places import visible
from analysis.trace.reading import call_at

#: Functions that put things in an order, or pick them.
_ORDERING = ("randperm", "shuffle", "permutation", "sample", "choice", "choices", "multinomial")


def check(trace: Trace) -> Iterator[Reported]:
    """Samplers that divide the data by an order which differs between ranks, and orders that a framework divides."""
    if not trace.distributed:
        return
    yield from _global(trace)
    yield from _own(trace)
    told: set[Span] = set()
    for event in trace.events(Kind.LOADER_BUILT):
        for sampler in samplers_of(event.subject):
            seed = sampler.fields.get("seed")
            varies = getattr(seed, "rank_varying", False) is True
            if divides(sampler) and shuffles(sampler) and varies and sampler.span is not None and sampler.span not in told:
                told.add(sampler.span)
                yield _reported(trace, sampler.span)


def _global(trace: Trace) -> Iterator[Reported]:
    """Draws from the global generator by which a sampler orders the samples of a loader that a framework divides."""
    samplers = [sampler for event in trace.events(Kind.LOADER_BUILT) if prepared(event.subject) for sampler in samplers_of(event.subject)]
    seeding = {event.context.function for event in trace.events(Kind.SEED)}
    told: set[Span] = set()
    for event in trace.events(Kind.DRAW):
        sampler = next((each for each in samplers if each is event.detail.loading), None)
        span = visible(event, trace.snapshot.contents)
        if sampler is None or event.subject is not None or not event.detail.function.endswith(_ORDERING):
            continue
        if "generator" not in sampler.fields and event.context.function not in seeding and span not in told:
            told.add(span)
            yield Reported(
                Finding(
                    RULE.name,
                    Severity.WARNING,
                    Confidence.MEDIUM,
                    span,
                    "each rank draws this order from its own global generator: where one has drawn more than another, their shares of the data overlap",
                    (Evidence(span, "the sampler shuffles here; it has no attribute `generator` through which the ranks could be kept alike"),),
                    no_fix_because="the sampler needs a generator of its own, which its constructor has to take or make",
                )
            )


def _own(trace: Trace) -> Iterator[Reported]:
    """Orders that a sampler of the program draws with a seed of this rank's own, and of which it then takes this rank's part."""
    samplers = [sampler for event in trace.events(Kind.LOADER_BUILT) for sampler in samplers_of(event.subject)]
    told: set[Span] = set()
    seeded: Value = None
    for event in trace.events(Kind.SEED, Kind.DRAW):
        if event.kind is Kind.SEED:
            seeded = event.value if event.detail is None else seeded
            continue
        seed = event.subject.fields.get(SEEDED) if isinstance(event.subject, Instance) else seeded if event.subject is None else None
        sampler = next((each for each in samplers if each is event.detail.loading), None)
        span = visible(event, trace.snapshot.contents)
        fresh = isinstance(seed, Symbol) and seed.role == FRESH
        varies = fresh or (getattr(seed, "rank_varying", False) is True and asks_for_rank(seed))
        if sampler is not None and varies and span not in told and event.detail.function.endswith(_ORDERING) and picks_by_rank(trace.snapshot, sampler):
            told.add(span)
            finding = Finding(
                RULE.name,
                RULE.severity,
                Confidence.MEDIUM,
                span,
                "this order is drawn with a seed that differs between ranks, and each takes its part of it: the parts overlap and leave samples out",
                (Evidence(span, f"the sampler shuffles here; the seed {'is drawn anew by each process' if fresh else 'depends on the rank'}"),),
                no_fix_because="the seed comes from outside the sampler, and may be meant for something else there",
            )
            yield Reported(finding)


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

_OWN = """
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

class Shuffled:
    def __init__(self, n{parameter}):
        self.n = n{kept}

    def __len__(self):
        return self.n

    def __iter__(self):
        for i in torch.randperm(self.n{given}):{mark}
            yield int(i)

accelerator = Accelerator()
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8, sampler=Shuffled(64))
net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
for (x,) in loader:
    optimizer.zero_grad()
    accelerator.backward(net(x).mean())
    optimizer.step()
"""

_PARTS = """
import os
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Sampler, TensorDataset

class Parts(Sampler):
    def __init__(self, n, seed):
        self.n, self.seed, self.rank, self.ranks = n, seed, dist.get_rank(), dist.get_world_size()

    def __iter__(self):
        generator = torch.Generator()
        generator.manual_seed(self.seed)
        order = torch.randperm(self.n, generator=generator).tolist(){mark}
        return iter(order{taken})

dist.init_process_group("nccl")
rank = int(os.environ["RANK"])
ddp = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
for (x,) in DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8, sampler=Parts(64, {seed})):
    optimizer.zero_grad()
    ddp(x).mean().backward()
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
        Bad(_OWN.format(parameter="", kept="", given="", mark="  # flagged")),
        Bad(_PARTS.format(mark="  # flagged", taken="[self.rank :: self.ranks]", seed="3 + rank")),
        Good(_PARTS.format(mark="", taken="[self.rank :: self.ranks]", seed="3")),
        Good(_PARTS.format(mark="", taken="[:32]", seed="3 + rank")),
        Good(_EXAMPLE.format(options=", seed=seed")),
        Good(_OWN.format(parameter=", generator=None", kept="\n        self.generator = generator", given=", generator=self.generator", mark="")),
        Good(_EXAMPLE.format(options=", rank=dist.get_rank(), num_replicas=dist.get_world_size()")),
    ),
)
