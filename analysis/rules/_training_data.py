"""Which loaders a program trains on, and how they were built. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analysis.interpreter.values import Function, Instance, Value
from analysis.library.tensor import tensors_in
from analysis.rules._carriers import ancestors
from analysis.rules._objects import distinct, forward_numbers, numbers_in
from analysis.trace import Trace
from analysis.trace.events import Event, Kind

#: Keys under which a call keeps what ``*`` and ``**`` brought: any option may be in there.
_UNKNOWN = ("*", "**")


def training_loaders(trace: Trace) -> list[Event]:
    """The constructions of the loaders whose batches some model learns from, as far as their options are told."""
    wanted = {id(loader) for loader in distinct(_learned_from(trace))}
    built = (event for event in trace.events(Kind.LOADER_BUILT) if id(event.subject) in wanted)
    return [event for event in built if not any(key in event.detail for key in _UNKNOWN)]


def only_evaluates(trace: Trace, loader: Instance) -> bool:
    """Whether the program learns, its models see batches of the loader, and none of them learns from one."""
    learned = numbers_in(event.value for event in trace.events(Kind.BACKWARD))
    fed = [event for event in trace.events(Kind.FORWARD) if any(each is loader for each in _fed_by(event))]
    return bool(fed) and bool(learned) and not any(forward_numbers(event) & learned for event in fed)


def _learned_from(trace: Trace) -> Iterator[Instance]:
    learned = numbers_in(event.value for event in trace.events(Kind.BACKWARD))
    for event in trace.events(Kind.FORWARD):
        if forward_numbers(event) & learned:
            yield from _fed_by(event)


def _fed_by(forward: Event) -> Iterator[Instance]:
    """The loaders whose batches go into a forward."""
    for given in tensors_in(forward.detail):
        loaders = (tensor.made.options.get("loader") for tensor in ancestors(given) if tensor.made is not None)
        yield from (loader for loader in loaders if isinstance(loader, Instance))


def epochs(trace: Trace, loader: Instance) -> int:
    """How often the loader was begun."""
    return sum(event.subject is loader for event in trace.events(Kind.ITERATE))


def draws_anew(dataset: Value) -> bool:
    """Whether a data set takes no notice of which item it is asked for: each is a draw of its own, whoever asks and in whatever order."""
    item = dataset.cls.find("__getitem__") if isinstance(dataset, Instance) else None
    if not isinstance(item, Function) or isinstance(item.node, ast.Lambda):
        return False
    asked = {given.arg for given in item.node.args.args[1:]}
    return bool(asked) and not any(isinstance(node, ast.Name) and node.id in asked for statement in item.node.body for node in ast.walk(statement))
