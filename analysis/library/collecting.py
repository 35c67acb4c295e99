"""Containers and iterators of the standard library: ``collections``, ``itertools``, ``copy``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from analysis.interpreter.values import Call, GuestDict, GuestList, HostFunction, Instance, Symbol, Value
from analysis.library.knowledge import Example, Subject
from analysis.library.ownership import is_module
from analysis.library.parts import ModelPart, copied_part
from analysis.library.tensor import Parameter, Parameters, Tensor

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine
    from analysis.source import Span

SUBJECT = Subject(
    examples=(
        Example(
            """
import copy
import itertools
from collections import defaultdict, deque

import torch

a, b = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
opt = torch.optim.SGD(itertools.chain(a.parameters(), b.parameters()), lr=0.1)
ema = copy.deepcopy(a).eval()
log = defaultdict(list)
log["x"].append(1)
import weakref
recent = deque(maxlen=10)
weakref.proxy(ema).train()
weakref.ref(ema)().eval()
recent.append(2)
opt.step()
""",
            ("optimizer_built SGD", "eval Linear", "train Linear", "eval Linear", "step SGD"),
        ),
    ),
)


class DefaultDict(GuestDict):
    """``defaultdict`` and ``Counter``: a missing key is made by the factory."""

    __slots__ = ("factory", "machine")

    def __init__(self, machine: Machine, factory: Value, span: Span) -> None:
        super().__init__()
        self.machine = machine
        self.factory = factory
        self.span, self.stamp = span, machine.stamp

    def __missing__(self, key: Value) -> Value:
        if self.factory is None:
            raise KeyError(key)
        span = self.machine.span or self.span
        if span is None:
            raise KeyError(key)
        value = self.machine.call(self.factory, [], {}, span)
        self.machine.heap.write(self, key, value)
        return value

    def most_common(self, _count: Value = None) -> list[tuple[Value, Value]]:
        """``Counter.most_common``."""
        return list(self.items())


class Deque(GuestList):
    """``deque``: a list with two ends; ``maxlen`` bounds what it keeps."""

    __slots__ = ("maxlen",)

    maxlen: Value

    def append(self, item: Value) -> None:
        """At the end."""
        super().append(item)
        if isinstance(self.maxlen, int) and len(self) > self.maxlen:
            del self[0]

    def appendleft(self, item: Value) -> None:
        """At the front."""
        self.insert(0, item)
        if isinstance(self.maxlen, int) and len(self) > self.maxlen:
            del self[-1]

    def popleft(self) -> Value:
        """From the front."""
        return self.pop(0)

    def rotate(self, _count: Value = 1) -> None:
        """The order changes, the content does not."""


@SUBJECT.function("collections.defaultdict")
def _defaultdict(call: Call) -> Value:
    made = DefaultDict(call.machine, call.args[0] if call.args else None, call.span)
    if len(call.args) > 1 and isinstance(call.args[1], dict):
        made.update(call.args[1])
    return made


@SUBJECT.function("collections.Counter")
def _counter(call: Call) -> Value:
    made = DefaultDict(call.machine, HostFunction("int", lambda _call: 0), call.span)
    for item in call.machine.items(call.args[0], call.span) if call.args and not isinstance(call.args[0], Symbol) else ():
        made[item] = made[item] + 1
    return made


@SUBJECT.function("collections.OrderedDict")
def _ordered(call: Call) -> Value:
    made = GuestDict()
    made.span, made.stamp = call.span, call.machine.stamp
    if call.args and isinstance(call.args[0], dict):
        made.update(call.args[0])
    elif call.args and not isinstance(call.args[0], Symbol):
        made.update({pair[0]: pair[1] for pair in call.machine.items(call.args[0], call.span) if isinstance(pair, tuple)})
    made.update(call.kwargs)
    return made


@SUBJECT.function("collections.deque")
def _deque(call: Call) -> Value:
    source = call.get(0, "iterable", ())
    made = Deque([] if isinstance(source, Symbol) else call.machine.items(source, call.span))
    made.span, made.stamp, made.maxlen = call.span, call.machine.stamp, call.get(1, "maxlen")
    return made


@SUBJECT.function("itertools.chain", "more_itertools.flatten")
def _chain(call: Call) -> Value:
    if call.args and all(isinstance(each, Parameters) for each in call.args):
        owners = tuple(owner for each in call.args for owner in each.owners)
        return Parameters(call.args[0].autograd, owners, named=call.args[0].named)
    return _chained(call, iter(call.args))


@SUBJECT.function("itertools.chain.from_iterable")
def _chain_from(call: Call) -> Value:
    return _chained(call, call.machine.iterate(call.args[0], call.span))


def _chained(call: Call, sources: Iterator[Value]) -> Iterator[Value]:
    for source in sources:
        yield from call.machine.iterate(source, call.span)


@SUBJECT.function("itertools.cycle")
def _cycle(call: Call) -> Value:
    return _cycled(call, call.args[0])


def _cycled(call: Call, source: Value) -> Iterator[Value]:
    """Round after round; an empty source ends it."""
    while True:
        count = 0
        for item in call.machine.iterate(source, call.span):
            count += 1
            yield item
        if not count:
            return


@SUBJECT.function("itertools.count")
def _count(call: Call) -> Value:
    start, step = call.get(0, "start", 0), call.get(1, "step", 1)
    return itertools.count(start if isinstance(start, int) else 0, step if isinstance(step, int) else 1)


@SUBJECT.function("itertools.islice")
def _islice(call: Call) -> Value:
    source = call.machine.iterate(call.args[0], call.span)
    bounds = [each if isinstance(each, int) else None for each in call.args[1:]]
    return itertools.islice(source, *bounds)


@SUBJECT.function("itertools.repeat")
def _repeat(call: Call) -> Value:
    times = call.get(1, "times")
    return itertools.repeat(call.args[0], times) if isinstance(times, int) else itertools.repeat(call.args[0])


@SUBJECT.function("itertools.zip_longest")
def _zip_longest(call: Call) -> Value:
    return zip(*(call.machine.iterate(each, call.span) for each in call.args), strict=False)


@SUBJECT.function("itertools.product")
def _product(call: Call) -> Value:
    return itertools.product(*(call.machine.items(each, call.span)[:64] for each in call.args))


@SUBJECT.function("itertools.starmap")
def _starmap(call: Call) -> Value:
    return (call.machine.call(call.args[0], list(call.machine.items(each, call.span)), {}, call.span) for each in call.machine.iterate(call.args[1], call.span))


@SUBJECT.function("itertools.tee")
def _tee(call: Call) -> Value:
    items = call.machine.items(call.args[0], call.span)
    return tuple(list(items) for _ in range(call.get(1, "n", 2)))


@SUBJECT.below("itertools")
def _other(dotted: str) -> Value:
    return HostFunction(dotted, lambda call: Symbol(f"{dotted}()", call.span, call.machine.stamp))


@SUBJECT.function("weakref.proxy")
def _proxy(call: Call) -> Value:
    """As good as the object, for as long as it lives."""
    return call.args[0]


@SUBJECT.function("weakref.ref")
def _reference(call: Call) -> Value:
    referred = call.args[0]
    return HostFunction("weakref.ref", lambda _call: referred)


@SUBJECT.function("copy.deepcopy")
def _deep_copy(call: Call) -> Value:
    return copied(call, call.args[0], {})


@SUBJECT.function("copy.copy")
def _copy(call: Call) -> Value:
    """A second holder of the same parts: a model that has the same parameters is the same model, a tensor keeps its graph."""
    match call.args[0]:
        case Instance() as held if not is_module(held):
            made = Instance(held.cls, call.span, call.machine.stamp, assumed=held.assumed)
            made.fields.update(held.fields)
            return made
        case (list() | dict()) as held:
            return copied(call, held, {id(each): each for each in (held.values() if isinstance(held, dict) else held)})
    return call.args[0]


def copied(call: Call, value: Value, known: dict[int, Value]) -> Value:
    """A copy with objects of its own all the way down; tensors lose their graph, parameters become new ones."""
    if id(value) in known:
        return known[id(value)]
    made: Value
    match value:
        case Instance():
            made = Instance(value.cls, call.span, call.machine.stamp, assumed=value.assumed)
            known[id(value)] = made
            made.fields.update({name: copied(call, item, known) for name, item in value.fields.items()})
        case ModelPart():
            made = copied_part(call, value, known.get(id(value.owner)))
        case Parameter():
            made = value.autograd.parameter(None)
        case Tensor():
            made = value.autograd.plain("copy", value)
        case list():
            made = GuestList()
            known[id(value)] = made
            made.span, made.stamp = call.span, call.machine.stamp
            made.extend(copied(call, item, known) for item in value)
        case dict():
            made = GuestDict()
            known[id(value)] = made
            made.span, made.stamp = call.span, call.machine.stamp
            made.update({key: copied(call, item, known) for key, item in value.items()})
        case tuple():
            made = tuple(copied(call, item, known) for item in value)
        case _:
            return value
    known[id(value)] = made
    return made
