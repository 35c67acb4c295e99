"""Loaders and what decides the order of their samples. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analysis.interpreter.counting import Counting
from analysis.interpreter.own_items import OwnItems
from analysis.interpreter.values import Alternatives, Function, Instance, Symbol, Value
from analysis.library.optimizers import PREPARED
from analysis.library.ranks import asks_for_rank
from analysis.library.tensor import Scalar, Tensor
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace.reading import around

#: Samplers inside samplers beyond which none is looked for.
_MOST = 8
#: What puts items into an order at random.
_ORDERS = frozenset({"randperm", "permutation", "shuffle", "sample"})
DISTRIBUTED_SAMPLER = "torch.utils.data.DistributedSampler"


def samplers_of(loader: Value) -> list[Instance]:
    """The samplers behind a loader: its own, and those inside a batch sampler."""
    found: list[Instance] = []
    todo = [loader.fields.get("sampler"), loader.fields.get("batch_sampler")] if isinstance(loader, Instance) else []
    while todo and len(found) < _MOST:
        each = todo.pop()
        if isinstance(each, Alternatives):
            todo.extend(each.values)
        elif isinstance(each, Instance):
            found.append(each)
            todo.append(each.fields.get("sampler"))
    return found


def divides(sampler: Instance) -> bool:
    """Whether it is PyTorch's own sampler that gives each rank its share."""
    return sampler.cls.dotted == DISTRIBUTED_SAMPLER


def draws_by_epoch(sampler: Instance) -> bool:
    """Whether it is a class of the program that wants to be told the epoch, draws an order at random and counts no epochs itself."""
    methods = {name: each.node for name, each in sampler.cls.namespace.items() if isinstance(each, Function)}
    if "set_epoch" not in methods or sampler.fields.get("shuffle", True) is False:
        return False
    nodes = [node for name, each in methods.items() for node in walk(each) if name != "set_epoch" or not isinstance(node, ast.Attribute)]
    counts = any(isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute) for node in nodes)
    tells = any(isinstance(node, ast.Attribute) and node.attr == "set_epoch" for node in nodes)
    return not counts and not tells and any(isinstance(node, ast.Attribute) and node.attr in _ORDERS for node in nodes)


def shuffles(sampler: Instance) -> bool:
    """Whether it surely draws a new order from its seed and epoch."""
    return sampler.fields.get("shuffle", True) is True


def picks_by_rank(snapshot: Snapshot, sampler: Instance) -> bool:
    """Whether the source of a sampler takes a part of an order, or every so many of its items, from this rank's own place on: ``order[self.rank::n]``."""
    own = {name for name, value in sampler.fields.items() if getattr(value, "rank_varying", False) is True and asks_for_rank(value)}
    return any(_is_own(first, own) for cls in sampler.cls.mro for first in _beginnings(snapshot, cls.span))


def _is_own(first: ast.expr, own: set[str]) -> bool:
    return any(isinstance(node, ast.Attribute) and (node.attr in own or node.attr == "get_rank") for node in walk(first))


def _beginnings(snapshot: Snapshot, span: Span | None) -> Iterator[ast.expr]:
    """Where slices, of iterators too, and ranges of a class begin."""
    source = snapshot.source(span.path) if span is not None and span.path in snapshot.contents else None
    found = (node for node in walk(source.tree) if isinstance(node, ast.ClassDef) and source.span(node) == span) if isinstance(source, SourceFile) else ()
    for within, node in ((cls, part) for cls in found for part in walk(cls)):
        match node:
            case (
                ast.Slice(lower=ast.expr() as first)
                | ast.Call(func=ast.Name(id="range"), args=[first, _, *_])
                | ast.Call(func=ast.Name(id="islice") | ast.Attribute(attr="islice"), args=[_, first, _, *_])
            ):
                yield from (first, *_assigned(within, first))


def _assigned(cls: ast.ClassDef, first: ast.expr) -> Iterator[ast.expr]:
    """What a class assigns to the name that a slice begins with."""
    for node in walk(cls) if isinstance(first, ast.Name) else ():
        match node, first:
            case ast.Assign(targets=[ast.Name(id=target)], value=value), ast.Name(id=name) if target == name:
                yield value


#: Functions that cut a list into as many parts as they are told, some of them longer by one.
_CUTTING = frozenset({"array_split", "tensor_split"})


def dealt_out(snapshot: Snapshot, loader: Value) -> Instance | None:
    """The part of a data set that a loader reads, if some ranks get one sample more than others.

    It is every so many-th sample from the rank on, to the end, or one part of a list that was cut in as many parts as there are ranks.
    """
    dataset = loader.fields.get("dataset") if isinstance(loader, Instance) else None
    indices = dataset.fields.get("indices") if isinstance(dataset, Instance) else None
    match indices.source if isinstance(indices, OwnItems) else indices:
        case Counting(rank_varying=True, step=int(step), stop=Symbol(test=())) if step > 1:
            return dataset if isinstance(dataset, Instance) else None
        case Scalar() | Tensor() as chosen if isinstance(dataset, Instance) and _is_every_nth(chosen):
            return dataset
        case Symbol(rank_varying=True) if isinstance(dataset, Instance) and _is_cut(snapshot, dataset.span):
            return dataset
    return None


def _is_every_nth(chosen: Scalar | Tensor) -> bool:
    """``order[rank::ranks]`` of an order that was drawn at once: it was neither cut nor filled up before."""
    made = (chosen.tensor if isinstance(chosen, Scalar) else chosen).made
    key = made.options.get("key") if made is not None and made.op == "getitem" else None
    if made is None or not isinstance(key, slice) or key.stop is not None or getattr(key.start, "rank_varying", False) is not True:
        return False
    return any(each.made is not None and each.made.op in _ORDERS for each in made.tensors)


def _is_cut(snapshot: Snapshot, built: Span | None) -> bool:
    """Whether the function in which something was built takes one of the parts of a list, and computes no length to which it could have been cut before."""
    stands = around(snapshot, built) if built is not None and built.path in snapshot.contents else None
    nodes = list(walk(stands.function)) if stands is not None and stands.function is not None else []
    if any(isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.FloorDiv)) for node in nodes):
        return False
    for node in nodes:
        match node:
            case ast.Subscript(value=ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name))) if name in _CUTTING:
                return True
    return False


def prepared(loader: Instance) -> bool:
    """Whether a framework has taken it over: it looks after the sampler itself."""
    return PREPARED in loader.fields
