"""Iteration: the items of a value, one at a time, as a host iterator."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from analysis.interpreter.generators import Generator
from analysis.interpreter.own_items import OwnItems
from analysis.interpreter.signals import BudgetSpent, GuestRaise
from analysis.interpreter.values import MISSING, Alternatives, Class, External, FewItems, HostValue, Instance, Module, Symbol, Value

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine
    from analysis.source import Span

#: Views of dicts: the body may change what they show.
_VIEWS: tuple[Any, ...] = (type({}.items()), type({}.keys()), type({}.values()))
#: Containers longer than this are cut: no program lists more layers.
MAX_ITEMS = 1 << 16
#: Items of one container that cost nothing, and how many of those beyond cost a step.
FREE_ITEMS = 4096
_ITEMS_PER_STEP = 16
_END = object()
#: Items taken at once of what has no known end.
FEW = 2


def iterate(machine: Machine, value: Value, span: Span) -> Iterator[Value]:
    """The items of ``value``; what cannot be told is the domain's to say."""
    match value:
        case Generator():
            return value
        case Instance():
            return _of_instance(machine, value, span)
        case Symbol() | External() | Module() | Alternatives():
            return unknown(machine, value, span)
        case Class() if "members" in value.metadata:
            return iter(list(value.metadata["members"].values()))
        case set() | frozenset():
            return iter(_ordered(value))
        case dict():
            return iter(list(value))
        case FewItems():
            return _of_few(machine, value)
        case list():
            return ListItems(machine, value)
        case _ if isinstance(value, _VIEWS):
            return iter([*value])
        case HostValue():
            machine.domain.before_call(machine, span)
    try:
        return iter(value)
    except TypeError:
        return unknown(machine, value, span)


def unknown(machine: Machine, value: Value, span: Span) -> Iterator[Value]:
    """Items that the source does not tell; the machine counts them, so that whoever takes them can tell that they have no end."""
    for item in machine.domain.unknown_items(machine, value, span):
        machine.unknown_items += 1
        yield item


def _of_few(machine: Machine, items: FewItems) -> Iterator[Value]:
    """Items that stand for more: they have no known end either."""
    for item in list(items):
        machine.unknown_items += 1
        machine.own_items += isinstance(items, OwnItems)
        yield item


def few_if_endless(machine: Machine, items: Iterator[Value]) -> Iterator[Value]:
    """The items, for whoever takes them all at once; of those that the source does not tell, which have no end, the first few."""
    rounds = 0
    while True:
        before = machine.unknown_items
        taken = [next(items, _END)]
        rounds += 1
        if isinstance(items, itertools.count):
            machine.unknown_items += 1  # a counter without a known end
        endless = machine.unknown_items != before
        if taken[0] is _END or (endless and rounds > FEW):
            return
        yield taken.pop()  # only the consumer holds the item while it works on it


def another(machine: Machine, count: int) -> bool:
    """Whether a container of which ``count`` items were taken is gone through further: many items have their price in steps."""
    if count >= FREE_ITEMS and count % _ITEMS_PER_STEP == 0:
        machine.steps -= 1
        if machine.steps < 0:
            raise BudgetSpent
    return count < MAX_ITEMS


class ListItems:
    """The items of a live list: what the body appends is seen, as in Python, up to a bound; ``operator.length_hint`` says how many are left now."""

    __slots__ = ("index", "items", "machine")

    def __init__(self, machine: Machine, items: list[Value]) -> None:
        self.machine = machine
        self.items = items
        self.index = 0

    def __iter__(self) -> Iterator[Value]:
        return self

    def __next__(self) -> Value:
        if self.index >= len(self.items) or not another(self.machine, self.index):
            raise StopIteration
        self.index += 1
        return self.items[self.index - 1]

    def __length_hint__(self) -> int:
        return max(0, len(self.items) - self.index)


def _ordered(items: set[Value] | frozenset[Value]) -> list[Value]:
    """The same order in every run: hashes of strings differ from process to process."""
    return sorted(items, key=lambda item: (type(item).__name__, repr(item) if isinstance(item, (str, int, float, bytes, tuple)) else ""))


def _of_instance(machine: Machine, value: Instance, span: Span) -> Iterator[Value]:
    for name in ("__iter__", "__next__", "__getitem__"):
        if value.cls.find(name) is MISSING:
            continue
        if name == "__iter__":
            made = machine.call(machine.getattr(value, name, span), [], {}, span)
            return _by_next(machine, made, span) if made is value else iterate(machine, made, span)
        return _by_next(machine, value, span) if name == "__next__" else _by_index(machine, value, span)
    return unknown(machine, value, span)


def _by_next(machine: Machine, value: Instance, span: Span) -> Iterator[Value]:
    following = machine.getattr(value, "__next__", span)
    for _ in range(MAX_ITEMS):
        try:
            yield machine.call(following, [], {}, span)
        except GuestRaise as error:
            if is_stop(error.value):
                return
            raise


def _by_index(machine: Machine, value: Instance, span: Span) -> Iterator[Value]:
    length: Value = None
    if value.cls.find("__len__") is not MISSING:
        length = machine.call(machine.getattr(value, "__len__", span), [], {}, span)
    for index in range(length if isinstance(length, int) else MAX_ITEMS):
        try:
            yield machine.getitem(value, index, span)
        except GuestRaise:
            return


def is_stop(exception: Value) -> bool:
    """Whether a guest exception is ``StopIteration``."""
    return isinstance(exception, Instance) and any(cls.name == "StopIteration" for cls in exception.cls.mro)
