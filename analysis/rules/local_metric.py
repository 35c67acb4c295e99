"""One rank's share of the validation set is taken for the whole.

With a `DistributedSampler` on the validation loader each rank scores its own part. A number that is not reduced over the ranks afterwards is the
accuracy of one part: on eight GPUs the best checkpoint is chosen, and the curve drawn, by an eighth of the data. The ranks also disagree about
which epoch was best. A sum that was reduced, divided by a count that was not, is too large by about the number of ranks.

**How to fix it.** `dist.all_reduce` the counts (correct and total, or sum and number of losses) before the quotient is taken.

**What is not reported.** Numbers that were reduced, gathered or broadcast; metrics that do so themselves (torchmetrics, Lightning,
`gather_for_metrics`); losses of training that are logged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.interpreter.values import Instance, Value
from analysis.library.frameworks import SELECTION
from analysis.library.optimizers import PREPARED
from analysis.library.tensor import Scalar, Tensor, tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._carriers import ancestors
from analysis.rules._collectives import SAVES
from analysis.rules._host_numbers import numbers_in, placed_in
from analysis.rules._quotients import Quotient, divided_by_own_count
from analysis.rules._samplers import divides, prepared, samplers_of
from analysis.rules._worlds import several_ranks
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible

#: Methods of trackers that show samples: those of one rank will do.
_MEDIA = re.compile(r"image|audio|video|figure|histogram|mesh|embedding|text|graph|table|artifact", re.IGNORECASE)


def check(trace: Trace) -> Iterator[Reported]:
    """Numbers of a divided evaluation that decide about a checkpoint or are logged, each once."""
    if not trace.distributed:
        return
    divisions: set[Span] = set()
    for quotient in divided_by_own_count(trace):
        if quotient.at not in divisions and quotient.at.path in trace.snapshot.contents:
            divisions.add(quotient.at)
            yield _reported_quotient(quotient)
    told: set[Span] = set()
    for event in trace.events(Kind.LOG) if several_ranks(trace) else ():
        span = visible(event, trace.snapshot.contents)
        own = event.detail == SELECTION and not event.context.grad and any(_is_own(number) for number in numbers_in([event.value]))
        if own and span not in told and span.path in trace.snapshot.contents:
            told.add(span)
            yield _reported_selection(span)
    loaders = _evaluated_in_parts(trace)
    for event in trace.events(Kind.SAVE, Kind.LOG, Kind.COLLECTIVE) if loaders else ():
        for span, loader in _local(_used_by(event), loaders):
            if span not in told and span.path in trace.snapshot.contents:
                told.add(span)
                yield _reported(trace, event, span, loader)


def _is_own(number: Scalar | Tensor) -> bool:
    """Whether a number comes of the batches that a framework dealt to this rank."""
    tensor = number.tensor if isinstance(number, Scalar) else number
    return tensor.rank_varying and any(each.made is not None and each.made.op == "batch" for each in ancestors(tensor))


def _evaluated_in_parts(trace: Trace) -> dict[int, Instance]:
    """Loaders that are iterated without gradients, of which each rank has its part, and that nothing learns from."""
    found: dict[int, Instance] = {}
    tested = _given_without_gradients(trace)
    learned = {id(loader) for event in trace.events(Kind.BACKWARD) for value in tensors_in(event.value) for loader in _loaders(value)}
    for event in trace.events(Kind.ITERATE):
        loader = event.subject
        if (
            isinstance(loader, Instance)
            and id(loader) not in learned
            and (not event.context.grad or id(loader) in tested)
            and (_by_accelerator(loader) or any(divides(each) for each in _own_samplers(loader)))
        ):
            found[id(loader)] = loader
    return found


def _given_without_gradients(trace: Trace) -> set[int]:
    """Loaders whose batches a model is given under ``no_grad``, and never otherwise."""
    without, otherwise = set[int](), set[int]()
    for event in trace.events(Kind.FORWARD):
        (otherwise if event.context.grad else without).update(id(loader) for value in tensors_in(event.detail) for loader in _loaders(value))
    return without - otherwise


def _loaders(value: Tensor) -> Iterator[Value]:
    """The loaders of the batches that a tensor was made of."""
    for each in ancestors(value):
        if each.made is not None and each.made.op == "batch" and "loader" in each.made.options:
            yield each.made.options["loader"]


def _own_samplers(loader: Instance) -> list[Instance]:
    """The samplers of a loader that no framework has taken over."""
    return [] if prepared(loader) else list(samplers_of(loader))


def _by_accelerator(loader: Instance) -> bool:
    """Whether an accelerator deals its batches out to the ranks."""
    return isinstance(loader.fields.get(PREPARED), Instance)


def _used_by(event: Event) -> list[Value]:
    """What decides that a checkpoint is saved, or what is logged."""
    if _saves(event):
        return [guard.condition for guard in event.context.rank_guards]
    return [event.value] if event.kind is Kind.LOG and not _MEDIA.search(str(event.subject)) else []


def _saves(event: Event) -> bool:
    return event.kind is Kind.SAVE or (event.kind is Kind.COLLECTIVE and event.subject in SAVES)


def _local(values: list[Value], loaders: dict[int, Instance]) -> Iterator[tuple[Span, Instance]]:
    """Where numbers that go into ``values`` were computed from one rank's part of a loader."""
    for number, span in placed_in(values):
        tensor = number.tensor if isinstance(number, Scalar) else number
        loader = next((loaders[id(each)] for each in _loaders(tensor) if id(each) in loaders), None) if tensor.rank_varying else None
        if loader is not None and span is not None:
            yield span, loader


def _reported(trace: Trace, event: Event, span: Span, loader: Instance) -> Reported:
    files = trace.snapshot.contents
    use = "decides which checkpoint is kept" if _saves(event) else "is logged"
    evidence = [Evidence(span, "computed from this rank's part, and not reduced over the ranks"), Evidence(visible(event, files), f"the number {use} here")]
    divided = loader.fields.get("prepared: at", loader.span)
    if isinstance(divided, Span):
        evidence.insert(0, Evidence(divided, "each rank evaluates its part of the data"))
    return Reported(
        Finding(
            RULE.name,
            RULE.severity,
            Confidence.HIGH if _saves(event) else Confidence.MEDIUM,
            span,
            f"this number is one rank's part of the validation set, and {use} as if it were the whole",
            tuple(evidence),
            no_fix_because="sums and counts have to be reduced over the ranks before they are divided, and which those are depends on the metric",
        )
    )


def _reported_selection(span: Span) -> Reported:
    return Reported(
        Finding(
            RULE.name,
            RULE.severity,
            Confidence.MEDIUM,
            span,
            "a callback chooses by this number, which is one rank's part of the validation set: each rank has another one",
            (Evidence(span, "the framework deals the batches out to the ranks, and is not asked to reduce what they make of them"),),
            no_fix_because="sync_dist=True takes the mean over the ranks; a metric that is no mean has to gather what it is made of first",
        )
    )


def _reported_quotient(quotient: Quotient) -> Reported:
    return Reported(
        Finding(
            RULE.name,
            RULE.severity,
            Confidence.MEDIUM,
            quotient.at,
            "the sum over all ranks is divided by the count of this rank alone: the mean is too large by about the number of ranks",
            (
                Evidence(quotient.summed, "the ranks add up their sums here"),
                Evidence(quotient.counted, "each rank counts its own part here"),
            ),
            no_fix_because="the count has to be reduced over the ranks where the sum is",
        )
    )


_EXAMPLE = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    correct, total = torch.zeros(()), torch.zeros(())
    for x, y in loader:
        correct += (model(x).argmax(1) == y).sum()
        total += len(y)
    {before}return (correct / total).item(){mark}

def main(net, train_loader, sampler):
    dist.init_process_group("nccl")
    dataset = TensorDataset(torch.randn(64, 4), torch.zeros(64, dtype=torch.long))
    loader = DataLoader(dataset, batch_size=8, sampler=DistributedSampler(dataset, shuffle=False))
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    best = 0.0
    for epoch in range(3):
        sampler.set_epoch(epoch)
        ddp.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(ddp(x), y).backward()
            optimizer.step()
        found = accuracy(ddp, loader)
        if dist.get_rank() == 0 and found > best:
            best = found
            torch.save(ddp.module.state_dict(), "best.pt")
"""

_PREPARED = """
import torch
from accelerate import Accelerator

def train(model, loader, held_out):
    accelerator = Accelerator()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader, held_out = accelerator.prepare(model, optimizer, loader, held_out)
    best = 0
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            accelerator.backward(torch.nn.functional.cross_entropy(model(x), y))
            optimizer.step()
        right = 0
        with torch.no_grad():
            for x, y in held_out:
                right += {right}
        if right > best:
            best = right
            accelerator.save(model.state_dict(), "best.pt")
"""

_FABRIC = """
import lightning as L
import torch

def main(fabric: L.Fabric, model: torch.nn.Module, data, steps: int):
    loader, held_out = fabric.setup_dataloaders(data.training(), data.validation())
    model, optimizer = fabric.setup(model, torch.optim.SGD(model.parameters(), lr=0.1))
    for x, y in loader:
        optimizer.zero_grad()
        fabric.backward(torch.nn.functional.cross_entropy(model(x), y))
        optimizer.step()
    losses = torch.zeros(steps)
    with torch.no_grad():
        for k, (x, y) in enumerate(held_out):
            losses[k] = torch.nn.functional.cross_entropy(model(x), y)
    mean = losses.mean(){mark}
    {reduce}fabric.log("loss", mean)
"""

_METER = """
import torch
import torch.distributed as dist

class Mean:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def __call__(self, scores):
        total, count = torch.tensor(float(scores.sum())), torch.tensor(len(scores))
        if dist.is_initialized():
            dist.all_reduce(total)
{told}        self.total += total.item()
        self.count += {count}

    def get_metric(self):
        return self.total / self.count{mark}
"""

RULE = Rule(
    "local-metric",
    Severity.WARNING,
    "one rank's share of the validation set is taken for the whole",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(before="", mark="  # flagged")),
        Bad(_METER.format(told="", count="len(scores)", mark="  # flagged")),
        Good(_METER.format(told="            dist.all_reduce(count)\n", count="count.item()", mark="")),
        Bad(_PREPARED.format(right="(model(x).argmax(-1) == y).sum().item()  # flagged")),
        Good(_PREPARED.format(right="accelerator.gather_for_metrics(model(x).argmax(-1) == y).sum().item()")),
        Bad(_FABRIC.format(mark="  # flagged", reduce="")),
        Good(_FABRIC.format(mark="", reduce="fabric.all_reduce(mean)\n    ")),
        Good(_EXAMPLE.format(before="dist.all_reduce(correct)\n    dist.all_reduce(total)\n    ", mark="")),
        Good(_EXAMPLE.format(before="", mark="").replace(", sampler=DistributedSampler(dataset, shuffle=False)", "")),
    ),
)
