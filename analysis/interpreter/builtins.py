"""Python's built-in functions on guest values. What a symbol makes undecided stays a symbol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from analysis.interpreter.affordable import call_is_too_large
from analysis.interpreter.counting import Counting
from analysis.interpreter.exceptions import EXCEPTIONS, guest_error
from analysis.interpreter.iteration import few_if_endless
from analysis.interpreter.joins import join
from analysis.interpreter.reflection import FUNCTIONS, UNKNOWN, made, unknown
from analysis.interpreter.values import (
    MISSING,
    Alternatives,
    Call,
    Class,
    ClassMethod,
    External,
    FewItems,
    GuestDict,
    GuestList,
    GuestSet,
    HostFunction,
    HostValue,
    Instance,
    Property,
    StaticMethod,
    Symbol,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from analysis.interpreter.machine import Machine
    from analysis.source import Span

#: Methods of containers that change them.
MUTATORS = frozenset(
    {
        "__delitem__", "__setitem__", "add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "extendleft", "insert",
        "intersection_update", "pop", "popitem", "popleft", "remove", "reverse", "rotate", "setdefault", "sort", "symmetric_difference_update", "update",
    }
)  # fmt: skip
#: Those that take the oldest or everything out.
REMOVERS = frozenset({"clear", "pop", "popleft", "popitem"})


def _list(call: Call) -> Value:
    unknown_before = call.machine.unknown_items
    items = made(call, GuestList(call.machine.items(call.args[0], call.span) if call.args else ()))
    return _collected(call, items, unknown_before)


def _collected(call: Call, items: Value, unknown_before: int) -> Value:
    """A list of what has no known length, if the domain has lists for that."""
    if call.machine.unknown_items == unknown_before:
        return items
    collected = call.machine.domain.collected(call.machine, items, call.span)
    return collected if isinstance(collected, FewItems) else items


def _tuple(call: Call) -> Value:
    return tuple(call.machine.items(call.args[0], call.span)) if call.args else ()


def _set(call: Call) -> Value:
    items = call.machine.items(call.args[0], call.span) if call.args else ()
    return made(call, GuestSet(item for item in items if item.__hash__ is not None))


def _dict(call: Call) -> Value:
    result: GuestDict = made(call, GuestDict())
    if call.args:
        result.update(_pairs_of(call, call.args[0]))
    result.update(call.kwargs)
    return result


def _pairs_of(call: Call, source: Value) -> dict[Value, Value]:
    if isinstance(source, dict):
        return source
    if isinstance(source, UNKNOWN):
        return {}
    if isinstance(source, Instance) and source.cls.find("keys") is not MISSING:
        return mapping_of(call.machine, source, call.span)
    return dict(tuple(call.machine.items(pair)) for pair in call.machine.items(source))


def mapping_of(machine: Machine, source: Instance, span: Span) -> dict[Value, Value]:
    """The items of an object that has ``keys`` and can be asked by them."""
    names = machine.items(machine.call(machine.getattr(source, "keys", span), [], {}, span), span)
    return {name: machine.getitem(source, name, span) for name in names}


def _len(call: Call) -> Value:
    value = call.args[0]
    if isinstance(value, Instance):
        found = value.cls.find("__len__")
        return call.machine.call(found, [value], {}, call.span) if found is not MISSING else unknown(call, value)
    if isinstance(value, Symbol):
        return value.part(".__len__()")
    if isinstance(value, (FewItems, *UNKNOWN)) or not hasattr(value, "__len__"):
        return unknown(call, value)
    return len(value)


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
    key = call.kwargs.get("key")
    keys = items if key is None else [call.machine.call(key, [item], {}, call.span) for item in items]
    if all(isinstance(k, (int, float)) for k in keys) or all(isinstance(k, str) for k in keys) or all(isinstance(k, tuple) for k in keys):
        try:
            order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(call.kwargs.get("reverse", False)))
        except TypeError:
            order = list(range(len(items)))
        items = [items[index] for index in order]
    return _collected(call, made(call, GuestList(items)), unknown_before)


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
    import ast  # noqa: PLC0415  only for the operator's name

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


def _iter(call: Call) -> Value:
    return call.machine.iterate(call.args[0], call.span)


def _next(call: Call) -> Value:
    source = call.args[0]
    try:
        if isinstance(source, Instance):
            return call.machine.call(call.machine.getattr(source, "__next__", call.span), [], {}, call.span)
        if isinstance(source, UNKNOWN):
            return next(call.machine.domain.unknown_items(call.machine, source, call.span))
        return next(source)
    except StopIteration as error:
        if len(call.args) > 1:
            return call.args[1]
        raise guest_error(error, call.span) from None


def _plain(function: Callable[..., Any]) -> Callable[[Call], Value]:
    """A built-in that computes on plain values only."""

    def run(call: Call) -> Value:
        values = (*call.args, *call.kwargs.values())
        if any(isinstance(value, (*UNKNOWN, Instance)) for value in values):
            special = _special(call, function.__name__)
            if special is not MISSING:
                return special
            made = unknown(call, *values)
            made.test = ("int()", values[0]) if function is int and len(values) == 1 else ()
            return made
        if call_is_too_large(function.__name__, None, call.args, call.kwargs.values()):
            return Symbol("a very large value", call.span, call.machine.stamp)
        try:
            return function(*call.args, **call.kwargs)
        except (TypeError, ValueError, OverflowError, ArithmeticError) as error:
            if any(isinstance(value, HostValue) for value in values):
                raise
            raise guest_error(error, call.span) from None

    return run


def _special(call: Call, name: str) -> Value:
    value = call.args[0] if call.args else None
    method = {"abs": "__abs__", "float": "__float__", "int": "__int__", "str": "__str__", "repr": "__repr__", "round": "__round__"}.get(name)
    if isinstance(value, Instance) and method is not None and value.cls.find(method) is not MISSING:
        return call.machine.call(call.machine.getattr(value, method, call.span), [], {}, call.span)
    return MISSING


def _exec(call: Call) -> Value:
    return call.machine.run_text(call.args[0], call.span)


def _nothing(_call: Call) -> Value:
    return None


def _open(call: Call) -> Value:
    return call.machine.open_file(call.args[0] if call.args else None, call.span)


def _bool(call: Call) -> Value:
    if not call.args:
        return False
    decided = call.machine.truth(call.args[0], call.span) if not isinstance(call.args[0], (Symbol, Alternatives)) else None
    return call.args[0] if decided is None else decided


_FUNCTIONS: dict[str, Callable[[Call], Value]] = {
    "list": _list, "tuple": _tuple, "set": _set, "frozenset": _set, "dict": _dict, "len": _len, "range": _range, "enumerate": _enumerate,
    "zip": _zip, "map": _map, "filter": _filter, "reversed": _reversed, "sorted": _sorted, "min": _reduce(min), "max": _reduce(max), "sum": _sum,
    "any": _any_all(stops_at=True), "all": _any_all(stops_at=False),
    "iter": _iter, "next": _next,
    "exec": _exec, "eval": _exec, "print": _nothing, "open": _open, "input": unknown,
    "id": unknown, "hash": unknown, "dir": unknown, "__import__": lambda call: External(str(call.args[0])),
    "exit": _nothing, "quit": _nothing, "breakpoint": _nothing,
    "int": _plain(int), "float": _plain(float), "str": _plain(str), "bool": _bool, "bytes": _plain(bytes), "complex": _plain(complex),
    "abs": _plain(abs), "round": _plain(round), "pow": _plain(pow), "divmod": _plain(divmod), "chr": _plain(chr), "ord": _plain(ord), "repr": _plain(repr),
    "hex": _plain(hex), "bin": _plain(bin), "format": _plain(format), "slice": _plain(slice), "ascii": _plain(ascii),
    "property": lambda call: Property(call.get(0, "fget"), call.get(1, "fset")), "staticmethod": lambda call: StaticMethod(call.args[0]),
    "classmethod": lambda call: ClassMethod(call.args[0]),
}  # fmt: skip


BUILTINS: dict[str, Value] = {name: HostFunction(name, run) for name, run in {**FUNCTIONS, **_FUNCTIONS}.items()}
BUILTINS.update(EXCEPTIONS)
BUILTINS["object"] = Class("object", "builtins.object", (), {})
BUILTINS.update({"NotImplemented": NotImplemented, "Ellipsis": ..., "__debug__": True, "__name__": "__main__"})
BUILTINS.update({"bytearray": External("builtins.bytearray"), "memoryview": External("builtins.memoryview")})
