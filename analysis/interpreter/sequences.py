"""Built-ins over sequences of guest values: counting, pairing, mapping, ordering, summing."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from analysis.interpreter.counting import Counting
from analysis.interpreter.iteration import few_if_endless
from analysis.interpreter.joins import join
from analysis.interpreter.own_items import own_items
from analysis.interpreter.reflection import UNKNOWN, made, unknown
from analysis.interpreter.values import Alternatives, Call, FewItems, GuestList, Value


def collected(call: Call, items: Value, unknown_before: int) -> Value:
    """``items``, or a list that stands for them: a domain may have one for what has no known length."""
    if call.machine.unknown_items == unknown_before:
        return items
    source = call.args[0]
    if isinstance(source, Counting) and source.rank_varying and isinstance(items, GuestList):
        return own_items(call.machine, items, call.span, source)
    few = call.machine.domain.collected(call.machine, items, call.span)
    return few if isinstance(few, FewItems) else items


def _range(call: Call) -> Value:
    if any(not isinstance(value, int) for value in call.args):
        return _symbolic_range(call)
    return range(*call.args)


def _symbolic_range(call: Call) -> Value:
    """A range whose length is not known: its start is, so counters stay numbers."""
    start, step = (call.args[0] if call.given(1, "stop") else 0), call.get(2, "step", 1)
    varying = any(getattr(value, "rank_varying", False) for value in call.args)
    start, step = (value if isinstance(value, int) else usual for value, usual in ((start, 0), (step, 1)))
    return Counting(start, step, next(iter(call.args[1:2] or call.args[:1]), None), rank_varying=varying)


def _enumerate(call: Call) -> Value:
    start = call.get(1, "start", 0)
    return _pairs(start if isinstance(start, int) else 0, call.machine.iterate(call.get(0, "iterable"), call.span))


def _pairs(start: int, items: Iterator[Value]) -> Iterator[Value]:
    index = start
    for item in items:
        pair = (index, item)
        del item
        yield pair
        del pair
        index += 1


def _zip(call: Call) -> Value:
    return zip(*(call.machine.iterate(value, call.span) for value in call.args), strict=False)


def _map(call: Call) -> Value:
    function, *sources = call.args
    return _mapped(call, function, [call.machine.iterate(source, call.span) for source in sources])


def _mapped(call: Call, function: Value, sources: list[Iterator[Value]]) -> Iterator[Value]:
    for values in zip(*sources, strict=False):
        yield call.machine.call(function, list(values), {}, call.span)


def _filter(call: Call) -> Value:
    return _filtered(call, call.args[0], call.machine.iterate(call.args[1], call.span))


def _filtered(call: Call, function: Value, items: Iterator[Value]) -> Iterator[Value]:
    for item in items:
        kept = item if function is None else call.machine.call(function, [item], {}, call.span)
        if call.machine.truth(kept, call.span) is not False:
            yield item


def _reversed(call: Call) -> Value:
    return iter(call.machine.items(call.args[0], call.span)[::-1])


def _sorted(call: Call) -> Value:
    unknown_before = call.machine.unknown_items
    items = call.machine.items(call.args[0], call.span)
    counted = call.machine.unknown_items == unknown_before  # what the keys are made of is not what is put in order
    key = call.kwargs.get("key")
    keys = items if key is None else [call.machine.call(key, [item], {}, call.span) for item in items]
    if all(isinstance(k, (int, float)) for k in keys) or all(isinstance(k, str) for k in keys) or all(isinstance(k, tuple) for k in keys):
        try:
            order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(call.kwargs.get("reverse", False)))
        except TypeError:
            order = list(range(len(items)))
        items = [items[index] for index in order]
    ordered = made(call, GuestList(items))
    return ordered if counted else collected(call, ordered, unknown_before)


def _reduce(function: Callable[..., Any]) -> Callable[[Call], Value]:
    def run(call: Call) -> Value:
        values = call.machine.items(call.args[0], call.span) if len(call.args) == 1 else call.args
        key = call.kwargs.get("key")
        if not values:
            return call.kwargs.get("default", unknown(call))
        if key is not None or any(not isinstance(value, (int, float, str)) for value in values):
            result = values[0]
            for value in values[1:]:
                result = join(result, value)
            return unknown(call, *values) if isinstance(result, Alternatives) and key is None else result
        return function(values)

    return run


def _sum(call: Call) -> Value:

    total = call.get(1, "start", 0)
    if isinstance(call.args[0], range) and isinstance(total, int):
        return total + _sum_of_range(call.args[0])
    for value in few_if_endless(call.machine, call.machine.iterate(call.args[0], call.span)):
        total = call.machine.binary(ast.Add(), total, value, call.span)
    return total


def _sum_of_range(numbers: range) -> int:
    """In one step, however long it is."""
    return len(numbers) * (numbers[0] + numbers[-1]) // 2 if numbers else 0


def _any_all(*, stops_at: bool) -> Callable[[Call], Value]:
    def run(call: Call) -> Value:
        undecided = None
        for value in few_if_endless(call.machine, call.machine.iterate(call.args[0], call.span)):
            if isinstance(value, UNKNOWN):
                undecided = value
                continue
            if call.machine.truth(value, call.span) is stops_at:
                return stops_at
        return (not stops_at) if undecided is None else unknown(call, undecided)

    return run


FUNCTIONS: dict[str, Callable[[Call], Value]] = {
    "range": _range, "enumerate": _enumerate, "zip": _zip, "map": _map, "filter": _filter, "reversed": _reversed, "sorted": _sorted,
    "min": _reduce(min), "max": _reduce(max), "sum": _sum, "any": _any_all(stops_at=True), "all": _any_all(stops_at=False),
}  # fmt: skip
