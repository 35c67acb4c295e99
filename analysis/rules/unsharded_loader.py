"""Every rank trains on the whole data set.

Under `DistributedDataParallel` each rank computes gradients on its own batches and they are averaged. A loader that nothing
divides between the ranks gives all of them the same samples (or the whole set each): an epoch costs as many times the work as there are
ranks, and where the seeds agree the averaged gradient is that of one single rank. A sampler that divides the data and is replaced before a loader has
it says so too, for the loader of an evaluation as well.

**How to fix it.** `DataLoader(dataset, sampler=DistributedSampler(dataset), …)` without `shuffle`, and
`loader.sampler.set_epoch(epoch)` at the start of every epoch; or a sampler of your own that takes each rank's share.

**What is not reported.** Loaders whose sampler, batch sampler, data set, indices or seed depend on the rank; iterable data sets
and WebDataset pipelines; data sets that draw at random whichever item they are asked for; loaders prepared by Accelerate, Lightning, Fabric,
Composer and the like; loaders that only evaluate, or whose gradients only measure something; batches that are cut by rank after loading;
programs that never wrap a model or reduce its gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.enclosing import expression_at
from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import AddImport, Change, InsertBefore, Proposal, Reported, SetArgument
from analysis.interpreter.values import Alternatives, Instance, Value
from analysis.library.tensor import tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._carriers import ancestors
from analysis.rules._objects import confidence_in, distinct, forward_numbers, inner, numbers_in
from analysis.rules._ranks import depends_on_rank
from analysis.rules._samplers import prepared, samplers_of
from analysis.rules._training_data import draws_anew
from analysis.rules._worlds import several_ranks
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import around, dotted, iterated_name, span_of

#: How a wrapped model comes to average gradients over ranks.
_AVERAGING = frozenset({"ddp", "fsdp", "fsdp2"})
#: Frameworks that average the gradients of the models that they were given, and divide the loaders that they were given too.
_DEALING = frozenset({"accelerate", "fabric"})
#: Samplers of torch that know no ranks.
_RANKLESS = frozenset(f"torch.utils.data.{name}" for name in ("RandomSampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler"))

_BATCH_SAMPLER = "torch.utils.data.BatchSampler"


def check(trace: Trace) -> Iterator[Reported]:
    """Loaders that a model whose gradients are averaged over ranks trains on, and that nothing divides; those whose divided sampler was replaced."""
    if trace.distributed:
        yield from _replaced(trace)
    wraps = [event for event in trace.events(Kind.WRAP) if event.detail in _AVERAGING | _DEALING]
    if not trace.distributed or not wraps or _seeded_by_rank(trace) or (wraps[0].detail == "fabric" and not several_ranks(trace)):
        return
    built = {id(event.subject): event for event in trace.events(Kind.LOADER_BUILT)}
    told: set[int] = set()
    for loader in _training_loaders(trace, distinct(event.subject for event in wraps)):
        if id(loader) in built and id(loader) not in told:
            told.add(id(loader))
            if _undivided(trace, built[id(loader)]) and not prepared(loader):
                yield _reported(trace, built[id(loader)], wraps[0])


def _replaced(trace: Trace) -> Iterator[Reported]:
    """Loaders for whose data set a sampler that divides it was made, under a name that another sampler then took."""
    loaders = list(trace.events(Kind.LOADER_BUILT))
    used = {id(sampler) for event in loaders for sampler in samplers_of(event.subject)}
    for made in trace.events(Kind.SAMPLER_BUILT):
        name = _assigned(trace, made.subject.span)
        for built in loaders if name and id(made.subject) not in used else ():
            sampler = built.detail.get("sampler")
            if not isinstance(sampler, Instance) or sampler.cls.dotted not in _RANKLESS or built.detail.get("dataset") is not made.value:
                continue
            if sampler.span is not None and sampler.span.start > made.span.start and _assigned(trace, sampler.span) == name:
                yield _reported_replaced(trace, built, made, sampler.span)


def _assigned(trace: Trace, span: Span | None) -> tuple[str, str] | None:
    """The file and the name that the statement around ``span`` assigns to."""
    stands = around(trace.snapshot, span) if span is not None and span.path in trace.snapshot.contents else None
    match stands.statement if stands is not None else None:
        case ast.Assign(targets=[target]) if span is not None and (name := dotted(target)):
            return span.path, name
    return None


def _reported_replaced(trace: Trace, built: Event, made: Event, replaced: Span) -> Reported:
    span = visible(built, trace.snapshot.contents)
    return Reported(
        Finding(
            RULE.name,
            RULE.severity,
            confidence_in(built.subject),
            span,
            "every rank reads the whole data set: the sampler that divides it was replaced by one that knows no ranks before the loader was built",
            (
                Evidence(visible(made, trace.snapshot.contents), "this sampler gives each rank its share, and no loader has it"),
                Evidence(replaced, "another sampler takes its name"),
                Evidence(span, "the loader is built with that one"),
            ),
            no_fix_because="one of the two samplers has to go, and which is for you to say",
        )
    )


def _seeded_by_rank(trace: Trace) -> bool:
    return any(depends_on_rank(trace.snapshot, event.value) for event in trace.events(Kind.SEED))


def _training_loaders(trace: Trace, models: list[Instance]) -> Iterator[Instance]:
    """Loaders whose batches these models learn from, unless the batches are cut by rank after loading; gradients that only measure teach nothing."""
    if next(iter(trace.events(Kind.STEP, Kind.OPTIMIZER_BUILT)), None) is None:
        return
    learned = numbers_in(event.value for event in trace.events(Kind.BACKWARD))
    for event in trace.events(Kind.FORWARD):
        if not any(inner(event.subject) is model for model in models) or not forward_numbers(event) & learned:
            continue
        given = [each for tensor in tensors_in(event.detail) for each in ancestors(tensor)]
        if not any(tensor.rank_varying for tensor in given):
            loaders = (tensor.made.options.get("loader") for tensor in given if tensor.made is not None and tensor.made.op == "batch")
            yield from (loader for loader in loaders if isinstance(loader, Instance))


def _undivided(trace: Trace, built: Event) -> bool:
    """Whether nothing about the loader depends on the rank, as far as its construction tells."""
    options: dict[str, Value] = built.detail
    sampler, dataset, batches = options.get("sampler"), options.get("dataset"), options.get("batch_sampler")
    if isinstance(batches, Instance) and batches.cls.dotted == _BATCH_SAMPLER:
        sampler, batches = batches.fields.get("sampler"), None
    if built.context.rank_guard is not None or batches is not None or isinstance(dataset, Alternatives):
        return False
    if sampler is not None and not (isinstance(sampler, Instance) and sampler.cls.dotted in _RANKLESS):
        return False
    if isinstance(dataset, Instance) and (dataset.cls.has_base("torch.utils.data.IterableDataset") or draws_anew(dataset)):
        return False
    maps = isinstance(dataset, Instance) or sampler is not None or options.get("shuffle") is True
    return maps and not depends_on_rank(trace.snapshot, options)


def _reported(trace: Trace, built: Event, wrap: Event) -> Reported:
    files = trace.snapshot.contents
    span = visible(built, files)
    sampler, dataset = built.detail.get("sampler"), built.detail.get("dataset")
    known = isinstance(dataset, Instance) and not dataset.assumed
    how = "its sampler knows no ranks" if sampler is not None or built.detail.get("batch_sampler") is not None else "it has no sampler that divides the data"
    finding = Finding(
        RULE.name,
        RULE.severity,
        min(confidence_in(built.subject), Confidence.HIGH if known and wrap.detail in _AVERAGING else Confidence.MEDIUM),
        span,
        f"every rank trains on the whole data set: {how}, and the gradients are averaged over ranks that may all have seen the same samples",
        (
            Evidence(visible(wrap, files), "gradients of this model are averaged over the ranks"),
            Evidence(span, f"the loader it trains on: {how}"),
        ),
    )
    if wrap.detail in _DEALING:
        return Reported(replace(finding, no_fix_because="give the loader to the framework that was given the model: it divides the batches between the ranks"))
    if sampler is not None or built.detail.get("batch_sampler") is not None:
        return Reported(replace(finding, no_fix_because="the sampler's own way of drawing has to be kept: each rank must take its share of what it draws"))
    source = trace.snapshot.source(span.path)
    call = expression_at(source, span) if isinstance(source, SourceFile) else None
    given = _dataset_argument(call) if isinstance(call, ast.Call) else None
    if given is None:
        return Reported(replace(finding, no_fix_because="the call that builds the loader does not name its data set"))
    shuffles = "" if built.detail.get("shuffle") is True else ", shuffle=False"
    changes = (
        SetArgument(span, "sampler", f"DistributedSampler({ast.unparse(given)}{shuffles})", dropping=("shuffle",)),
        AddImport(span.path, "torch.utils.data", "DistributedSampler"),
        *_told_the_epoch(trace, built.subject),
    )
    title = "Does nothing else divide the data between ranks? Then use a DistributedSampler that is told the epoch"
    return Reported(finding, Proposal(title, Safety.REVIEW, changes))


def _told_the_epoch(trace: Trace, loader: Instance) -> Iterator[Change]:
    """``loader.sampler.set_epoch(epoch)`` before the loop over batches, where a loop around it counts the epochs."""
    event = next((each for each in trace.events(Kind.ITERATE) if each.subject is loader and each.context.grad), None)
    stands = around(trace.snapshot, event.span) if event is not None else None
    if event is None or stands is None:
        return
    match stands.statements[-2:]:
        case [ast.For(target=ast.Name(id=epoch), iter=ast.Call(func=ast.Name(id="range"))), ast.For() as batches]:
            name, place = iterated_name(trace.snapshot, event.span), span_of(trace.snapshot, event.span.path, batches)
            if name is not None and place is not None:
                yield InsertBefore(place, (f"{name}.sampler.set_epoch({epoch})",))


def _dataset_argument(call: ast.Call) -> ast.expr | None:
    """The data set as the call names it: a name or attribute, which can be written twice."""
    given = call.args[0] if call.args else next((keyword.value for keyword in call.keywords if keyword.arg == "dataset"), None)
    return given if isinstance(given, (ast.Name, ast.Attribute)) else None


_SHARDED = "loader = DataLoader(dataset, batch_size=8, sampler=DistributedSampler(dataset))"
_OTHER = "held_out = TensorDataset(torch.randn(8, 4))\n    "
_REPLACED = f"""{_SHARDED}
    {_OTHER}sampler = DistributedSampler(held_out)
    sampler = SequentialSampler(held_out)
    evaluation = DataLoader(held_out, batch_size=8, sampler=sampler)  # flagged"""
_CHOSEN = f"""{_SHARDED}
    {_OTHER}sampler = SequentialSampler(held_out)
    if dist.get_world_size() > 1:
        sampler = DistributedSampler(held_out)
    evaluation = DataLoader(held_out, batch_size=8, sampler=sampler)"""
_TOLD = "loader.sampler.set_epoch(epoch)\n        "
_EXAMPLE = """
import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset{imports}

def main():
    dist.init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    dataset = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    {loader}
    net = DistributedDataParallel(torch.nn.Linear(4, 1).cuda(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        {told}for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()

main()
"""

RULE = Rule(
    "unsharded-loader",
    Severity.ERROR,
    "every rank trains on the whole data set",
    __doc__,
    check,
    examples=(
        Bad(
            _EXAMPLE.format(imports="", loader="loader = DataLoader(dataset, batch_size=8, shuffle=True)  # flagged", told=""),
            fixed=_EXAMPLE.format(imports="\nfrom torch.utils.data import DistributedSampler", loader=_SHARDED, told=_TOLD),
        ),
        Bad(_EXAMPLE.format(imports=", DistributedSampler, SequentialSampler", loader=_REPLACED, told=_TOLD)),
        Good(_EXAMPLE.format(imports=", DistributedSampler", loader=_SHARDED, told=_TOLD)),
        Good(_EXAMPLE.format(imports=", DistributedSampler, SequentialSampler", loader=_CHOSEN, told=_TOLD)),
        Good(_EXAMPLE.format(imports=", Subset", loader="loader = DataLoader(Subset(dataset, range(rank, 64, 2)), batch_size=8, shuffle=True)", told="")),
        Good(
            """
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=8, shuffle=True)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
"""
        ),
    ),
)
