"""The ranks get different numbers of batches.

A sampler that gives rank *r* every `world_size`-th batch from *r* on gives the first ranks one more whenever the number of batches is not a multiple of
the number of ranks. The ranks with one batch more then wait in their last backward for an average that the others never come to: the epoch hangs at
its end, and only for some sizes of data set, batch and job.

**How to fix it.** Cut the list of batches to a multiple of the number of ranks, or fill it up, before it is divided; or train under `with ddp.join():`.

**What is not reported.** Lists that are cut or filled up before (a remainder, a quotient, a total size in the same class); streams of which each
rank counts its rounds; loaders that are not iterated to train a model whose gradients are averaged.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.interpreter.values import Class, Function, Instance, Value
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import confidence_in
from analysis.rules._samplers import dealt_out, divides, prepared, samplers_of
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import around, dotted

#: What ends a loop before its loader does.
_COUNTING = frozenset({"islice", "zip", "Join", "join"})
_STREAM = "torch.utils.data.IterableDataset"
#: Words of a class that evens its list out somewhere.
_EVENING = re.compile(rb"total_size|pad(?!ding=|_token|_id)|drop_last|ceil|floor|trunc(?!ation=)|min\(|max\(|while True|cycle")


def check(trace: Trace) -> Iterator[Reported]:
    """Samplers that deal batches or samples out to the ranks one after the other, with nothing that evens the shares out."""
    wrap = next((event for event in trace.events(Kind.WRAP) if event.detail in {"ddp", "fsdp", "fsdp2"}), None)
    if not trace.distributed or wrap is None:
        return
    told: set[Span] = set()
    for event in trace.events(Kind.ITERATE):
        loader = event.subject
        if not isinstance(loader, Instance) or prepared(loader) or not event.context.grad or event.context.joined:
            continue
        part = dealt_out(trace.snapshot, loader)
        dealing = [(sampler, None if divides(sampler) else _dealt(trace, sampler)) for sampler in samplers_of(loader)]
        stream = _stream(trace, event, loader)
        dealing += [(stream, _dealt(trace, stream) or _kept_share(trace, stream))] if stream is not None else []
        table = _table(loader)
        dealing += [(table, _kept_share(trace, table))] if table is not None else []
        for dealer, span in [*dealing, (part, part.span)] if part is not None else dealing:
            if span is not None and span not in told and span.path in trace.snapshot.contents:
                told.add(span)
                yield _reported(trace, event, wrap, dealer, span)


def _stream(trace: Trace, event: Event, loader: Instance) -> Instance | None:
    """The stream that a loader reads, if the loop over it goes to its end: nothing counts its rounds, and nothing leaves it."""
    stream, stands = loader.fields.get("dataset"), around(trace.snapshot, event.span)
    if not isinstance(stream, Instance) or not stream.cls.has_base(_STREAM) or stands is None:
        return None
    within = ast.walk(stands.function) if stands.function is not None else ()
    if any(isinstance(node, ast.Call) and (dotted(node.func) or "").rpartition(".")[2] in _COUNTING for node in within):
        return None
    match stands.statements[-1:]:
        case [ast.For(iter=ast.Name() | ast.Attribute() | ast.Call(func=ast.Name(id="enumerate" | "tqdm")), body=body)]:
            leaves = any(isinstance(node, (ast.Break, ast.Return)) for each in body for node in ast.walk(each))
            return None if leaves else stream
    return None


def _table(loader: Instance) -> Instance | None:
    """The data set of a loader that gives all batches of it, the last and smaller one too."""
    dataset = loader.fields.get("dataset")
    whole = loader.fields.get("drop_last", False) is False and isinstance(dataset, Instance)
    return dataset if whole and isinstance(dataset, Instance) and not dataset.cls.has_base(_STREAM) else None


def _kept_share(trace: Trace, dataset: Instance) -> Span | None:
    """Where a data set that is made keeps every n-th item of a list from its rank on, ``self.files = files[rank::n]``, and nothing evens the list out."""
    made = dataset.cls.find("__init__")
    if dataset.cls.span is None or not isinstance(made, Function) or _evens(trace, dataset.cls) or _divides_numbers(made, but=None):
        return None
    for node in ast.walk(made.node):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=ast.Subscript(slice=ast.Slice(upper=None, step=ast.expr()))):
                if getattr(dataset.fields.get(name), "rank_varying", False) is True:
                    return made.module.file.span(node.value)
    return None


def _evens(trace: Trace, cls: Class) -> bool:
    source = trace.snapshot.contents.get(cls.span.path, b"")[cls.span.start : cls.span.end] if cls.span is not None else b""
    return _EVENING.search(source) is not None


def _dealt(trace: Trace, sampler: Instance) -> Span | None:
    """Where the sampler, or stream, takes every n-th item from its rank on, of a list whose length nothing evens out."""
    cls = sampler.cls
    found = cls.find("__iter__")
    if cls.span is None or not isinstance(found, Function) or cls.span.path not in trace.snapshot.contents:
        return None
    if _evens(trace, cls):
        return None
    turn = next((node.test for node in ast.walk(found.node) if isinstance(node, ast.If) and _is_turn_of_rank(node, found, sampler)), None)
    if _divides_numbers(found, cls.find("__init__"), but=turn):
        return None
    dealt = (node for node in ast.walk(found.node) if isinstance(node, (ast.Call, ast.Subscript)) and _starts_at_rank(node, found, sampler))
    place = next(dealt, turn)
    return found.module.file.span(place) if place is not None else None


def _divides_numbers(*functions: Value, but: ast.expr | None) -> bool:
    """Whether a quotient or remainder is computed: to cut or fill up, most likely."""
    asked = set() if but is None else set(ast.walk(but))
    nodes = (node for function in functions if isinstance(function, Function) for node in ast.walk(function.node) if node not in asked)
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.FloorDiv, ast.Div)) for node in nodes)


def _starts_at_rank(node: ast.Call | ast.Subscript, reader: Function, sampler: Instance) -> bool:
    """``range(rank, len(x), n)``, ``x[rank::n]`` or ``islice(x, rank, None, n)``: with an end that is the list's own."""
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[start, ast.Call(func=ast.Name(id="len")), _]):
            return _tells_rank(start, reader, sampler)
        case ast.Subscript(slice=ast.Slice(lower=ast.expr() as start, upper=None, step=ast.expr())):
            return _tells_rank(start, reader, sampler)
        case ast.Call(func=ast.Name(id="islice") | ast.Attribute(attr="islice"), args=[_, start, ast.Constant(value=None), _]):
            return _tells_rank(start, reader, sampler)
    return False


def _is_turn_of_rank(node: ast.If, reader: Function, sampler: Instance) -> bool:
    """``if i % n == rank:`` or ``if i % n != rank: continue``."""
    match node.test:
        case ast.Compare(left=ast.BinOp(op=ast.Mod()), ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            return _tells_rank(right, reader, sampler)
    return False


def _tells_rank(node: ast.expr, reader: Function, sampler: Instance, seen: frozenset[str] = frozenset()) -> bool:
    """Whether it is the rank, a name that the function gives it, or a place of one of its workers: ``rank * workers + worker``."""
    match node:
        case ast.Name(id=name):
            return name not in seen and any(_tells_rank(value, reader, sampler, seen | {name}) for value in _assigned(name, reader))
        case ast.BinOp(op=ast.Add() | ast.Mult(), left=left, right=right):
            return _tells_rank(left, reader, sampler, seen) or _tells_rank(right, reader, sampler, seen)
        case ast.IfExp(body=one, orelse=other):
            return _tells_rank(one, reader, sampler, seen) or _tells_rank(other, reader, sampler, seen)
    return _is_rank(node, sampler)


def _assigned(name: str, reader: Function) -> Iterator[ast.expr]:
    """What the function assigns to a name."""
    for node in ast.walk(reader.node):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                yield value
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                yield from (value for each, value in zip(names, values, strict=False) if isinstance(each, ast.Name) and each.id == name)


def _is_rank(node: ast.expr, sampler: Instance) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return getattr(sampler.fields.get(name), "rank_varying", False) is True
        case ast.Call(func=ast.Attribute(attr="get_rank") | ast.Name(id="get_rank")):
            return True
    return False


def _reported(trace: Trace, event: Event, wrap: Event, sampler: Instance, span: Span) -> Reported:
    files = trace.snapshot.contents
    return Reported(
        Finding(
            RULE.name,
            RULE.severity,
            min(confidence_in(sampler), Confidence.HIGH),
            span,
            "the first ranks get one item more whenever the list is no multiple of the number of ranks: at the end of the epoch they wait for the others "
            "for ever",
            (
                Evidence(visible(wrap, files), "every backward of this model waits for all ranks"),
                Evidence(span, "each rank takes every n-th item from its own number on, to the end of the list"),
                Evidence(visible(event, files), "the loader is iterated to its end here"),
            ),
            no_fix_because="whether the rest of the list is to be dropped or filled up has to be decided",
        )
    )


_EXAMPLE = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Sampler, TensorDataset

class Dealt(Sampler):
    def __init__(self, batches, rank, world):
        self.batches, self.rank, self.world = batches, rank, world

    def __iter__(self):
        batches = {batches}
        for i in range(self.rank, len(batches), self.world):{mark}
            yield batches[i]

def main(net, batches):
    dist.init_process_group("nccl")
    dataset = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    loader = DataLoader(dataset, batch_sampler=Dealt(batches, dist.get_rank(), dist.get_world_size()))
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(ddp(x), y).backward()
            optimizer.step()
"""

RULE = Rule(
    "uneven-ranks",
    Severity.ERROR,
    "the ranks get different numbers of batches",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(batches="list(self.batches)", mark="  # flagged")),
        Good(_EXAMPLE.format(batches="self.batches[: len(self.batches) // self.world * self.world]", mark="")),
        Good(_EXAMPLE.format(batches="list(self.batches)", mark="").replace("ddp = torch.nn.parallel.DistributedDataParallel(net)", "ddp = net")),
    ),
)
