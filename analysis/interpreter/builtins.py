"""Python's built-in functions on guest values. What a symbol makes undecided stays a symbol."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from analysis.interpreter.exceptions import EXCEPTIONS, guest_error
from analysis.interpreter.values import (
    MISSING,
    Alternatives,
    Call,
    Class,
    ClassMethod,
    External,
    Function,
    GuestDict,
    GuestList,
    GuestSet,
    HostFunction,
    HostValue,
    Instance,
    Method,
    Module,
    Property,
    StaticMethod,
    Super,
    Symbol,
    Value,
    join,
)

if TYPE_CHECKING:
    from collections.abc import Callable

#: Methods of containers that change them.
MUTATORS = frozenset(
    ["append", "extend", "insert", "pop", "popitem", "remove", "clear", "sort", "reverse", "update", "setdefault", "add", "discard", "appendleft", "popleft", "extendleft", "rotate", "difference_update", "intersection_update", "symmetric_difference_update", "__setitem__", "__delitem__"]
)
_UNKNOWN = (Symbol, Alternatives, External)


def _made(call: Call, container: Any) -> Value:
    container.span, container.stamp = call.span, call.machine.stamp
    return container


def _unknown(call: Call, *values: Value) -> Symbol:
    source = next((value for value in values if isinstance(value, Symbol)), None)
    stamp = source.stamp if source is not None else call.machine.stamp
    return Symbol("the result of a built-in", call.span, stamp, rank_varying=any(getattr(value, "rank_varying", False) for value in values))


def _list(call: Call) -> Value:
    return _made(call, GuestList(call.machine.items(call.args[0], call.span) if call.args else ()))


def _tuple(call: Call) -> Value:
    return tuple(call.machine.items(call.args[0], call.span)) if call.args else ()


def _set(call: Call) -> Value:
    items = call.machine.items(call.args[0], call.span) if call.args else ()
    return _made(call, GuestSet(item for item in items if item.__hash__ is not None))


def _dict(call: Call) -> Value:
    made = _made(call, GuestDict())
    if call.args:
        source = call.args[0]
        pairs = source.items() if isinstance(source, dict) else () if isinstance(source, _UNKNOWN) else (tuple(call.machine.items(pair)) for pair in call.machine.items(source))
        made.update({pair[0]: pair[1] for pair in pairs if len(pair) == 2})
    made.update(call.kwargs)
    return made


def _len(call: Call) -> Value:
    value = call.args[0]
    if isinstance(value, Instance):
        found = value.cls.find("__len__")
        return call.machine.call(found, [value], {}, call.span) if found is not MISSING else _unknown(call, value)
    if isinstance(value, Symbol):
        return value.part(".__len__()")
    if isinstance(value, _UNKNOWN) or not hasattr(value, "__len__"):
        return _unknown(call, value)
    return len(value)


def _range(call: Call) -> Value:
    if any(not isinstance(value, int) for value in call.args):
        return _symbolic_range(call)
    return range(*call.args)


def _symbolic_range(call: Call) -> Value:
    """A range whose length is not known: its start is, so counters stay numbers."""
    start = call.args[0] if len(call.args) > 1 and isinstance(call.args[0], int) else 0
    step = call.args[2] if len(call.args) > 2 and isinstance(call.args[2], int) else 1
    return Counting(start, step)


class Counting:
    """A range without a known end."""

    __slots__ = ("start", "step")

    def __init__(self, start: int, step: int) -> None:
        self.start = start
        self.step = step

    def __iter__(self) -> Iterator[int]:
        return itertools.count(self.start, self.step)


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
    items = call.machine.items(call.args[0], call.span)
    key = call.kwargs.get("key")
    keys = items if key is None else [call.machine.call(key, [item], {}, call.span) for item in items]
    if all(isinstance(k, (int, float)) for k in keys) or all(isinstance(k, str) for k in keys) or all(isinstance(k, tuple) for k in keys):
        try:
            order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(call.kwargs.get("reverse", False)))
        except TypeError:
            order = list(range(len(items)))
        items = [items[index] for index in order]
    return _made(call, GuestList(items))


def _reduce(function: Callable[..., Any]) -> Callable[[Call], Value]:
    def run(call: Call) -> Value:
        values = call.machine.items(call.args[0], call.span) if len(call.args) == 1 else call.args
        key = call.kwargs.get("key")
        if not values:
            return call.kwargs.get("default", _unknown(call))
        if key is not None or any(not isinstance(value, (int, float, str)) for value in values):
            result = values[0]
            for value in values[1:]:
                result = join(result, value)
            return _unknown(call, *values) if isinstance(result, Alternatives) and key is None else result
        return function(values)

    return run


def _sum(call: Call) -> Value:
    import ast  # noqa: PLC0415  only for the operator's name

    total = call.get(1, "start", 0)
    for value in call.machine.iterate(call.args[0], call.span):
        total = call.machine.binary(ast.Add(), total, value, call.span)
    return total


def _any_all(stops_at: bool) -> Callable[[Call], Value]:  # noqa: FBT001  private: which of the two built-ins
    def run(call: Call) -> Value:
        undecided = None
        for value in call.machine.iterate(call.args[0], call.span):
            if isinstance(value, _UNKNOWN):
                undecided = value
                continue
            if call.machine.truth(value, call.span) is stops_at:
                return stops_at
        return (not stops_at) if undecided is None else _unknown(call, undecided)

    return run


def _isinstance(call: Call) -> Value:
    value, kinds = call.args[0], call.args[1]
    answers = [_is_a(value, kind) for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
    if True in answers:
        return True
    return _unknown(call, value) if None in answers else False


def _is_a(value: Value, kind: Value) -> bool | None:
    if isinstance(value, (Symbol, Alternatives)) or isinstance(kind, Symbol):
        return None
    if isinstance(kind, HostFunction):
        kind = TYPES.get(kind.name, kind)
    dotted = kind.dotted if isinstance(kind, (External, Class)) else None
    if isinstance(value, Instance):
        if isinstance(kind, Class):
            return kind in value.cls.mro or value.cls.has_base(kind.dotted)
        return value.cls.has_base(dotted) if dotted is not None else False
    if isinstance(value, HostValue) and dotted is not None:
        return dotted in getattr(value, "guest_types", ())
    if isinstance(kind, type):
        return isinstance(value, kind)
    if dotted in {"collections.abc.Callable", "typing.Callable"}:
        return isinstance(value, (Function, Method, Class, HostFunction))
    if dotted is not None and dotted.rpartition(".")[2] in {"Mapping", "Sequence", "Iterable", "OrderedDict"}:
        return isinstance(value, dict) if "apping" in dotted or "Dict" in dotted else isinstance(value, (list, tuple))
    return False


def _getattr(call: Call) -> Value:
    value, name = call.args[0], call.args[1]
    if not isinstance(name, str):
        return _unknown(call, value, name)
    if len(call.args) > 2 and _has(call, value, name) is False:
        return call.args[2]
    return call.machine.getattr(value, name, call.span)


def _has(call: Call, value: Value, name: str) -> bool | None:
    match value:
        case Instance():
            if name in value.fields or value.cls.find(name) is not MISSING:
                return True
            followed = all(isinstance(base, (Class, type)) for owner in value.cls.mro for base in owner.bases)
            return False if followed and value.cls.find("__getattr__") is MISSING else None
        case Module():
            return name in value.vars
        case Class():
            return value.find(name) is not MISSING
        case Symbol() | Alternatives():
            return True if f".{name}" in getattr(value, "parts", {}) else None
        case External():
            return True
        case Function():
            return name in value.fields or name.startswith("__")
    return hasattr(value, name)


def _hasattr(call: Call) -> Value:
    answer = _has(call, call.args[0], call.args[1]) if isinstance(call.args[1], str) else None
    if answer is None:
        value = call.args[0]
        return value.part(f"hasattr {call.args[1]}") if isinstance(value, Symbol) else _unknown(call)
    return answer


def _setattr(call: Call) -> Value:
    if isinstance(call.args[1], str):
        call.machine.setattr(call.args[0], call.args[1], call.args[2], call.span)


def _delattr(call: Call) -> Value:
    if isinstance(call.args[1], str):
        call.machine.delattr(call.args[0], call.args[1], call.span)


def _iter(call: Call) -> Value:
    return call.machine.iterate(call.args[0], call.span)


def _next(call: Call) -> Value:
    source = call.args[0]
    try:
        if isinstance(source, Instance):
            return call.machine.call(call.machine.getattr(source, "__next__", call.span), [], {}, call.span)
        if isinstance(source, _UNKNOWN):
            return next(call.machine.domain.unknown_items(call.machine, source, call.span))
        return next(source)
    except StopIteration as error:
        if len(call.args) > 1:
            return call.args[1]
        raise guest_error(error, call.span) from None


def _type(call: Call) -> Value:
    value = call.args[0]
    return value.cls if isinstance(value, Instance) else _unknown(call, value) if isinstance(value, _UNKNOWN) else type(value)


def _super(call: Call) -> Value:
    return Super(call.args[0], call.args[1]) if len(call.args) == 2 and isinstance(call.args[0], Class) else _unknown(call)


def _callable(call: Call) -> Value:
    value = call.args[0]
    if isinstance(value, _UNKNOWN):
        return _unknown(call, value)
    return isinstance(value, (Function, Method, Class, HostFunction)) or (isinstance(value, Instance) and value.cls.find("__call__") is not MISSING)


def _vars(call: Call) -> Value:
    value = call.args[0] if call.args else call.machine.frame
    return value.fields if isinstance(value, Instance) else getattr(value, "vars", _unknown(call))


def _globals(call: Call) -> Value:
    return call.machine.frame.module.vars if call.machine.frame is not None else {}


def _locals(call: Call) -> Value:
    return _made(call, GuestDict(call.machine.frame.vars)) if call.machine.frame is not None else {}


def _plain(function: Callable[..., Any]) -> Callable[[Call], Value]:
    """A built-in that computes on plain values only."""

    def run(call: Call) -> Value:
        values = (*call.args, *call.kwargs.values())
        if any(isinstance(value, (*_UNKNOWN, Instance)) for value in values):
            special = _special(call, function.__name__)
            return _unknown(call, *values) if special is MISSING else special
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


def _issubclass(call: Call) -> Value:
    cls, kind = call.args[0], call.args[1]
    if isinstance(cls, Class) and isinstance(kind, (Class, External)):
        return cls.has_base(kind.dotted) or kind in cls.mro
    return _unknown(call)


_FUNCTIONS: dict[str, Callable[[Call], Value]] = {
    "list": _list, "tuple": _tuple, "set": _set, "frozenset": _set, "dict": _dict, "len": _len, "range": _range, "enumerate": _enumerate,
    "zip": _zip, "map": _map, "filter": _filter, "reversed": _reversed, "sorted": _sorted, "min": _reduce(min), "max": _reduce(max), "sum": _sum,
    "any": _any_all(True), "all": _any_all(False), "isinstance": _isinstance, "issubclass": _issubclass, "getattr": _getattr, "hasattr": _hasattr,
    "setattr": _setattr, "delattr": _delattr, "iter": _iter, "next": _next, "type": _type, "super": _super, "callable": _callable, "vars": _vars,
    "globals": _globals, "locals": _locals, "exec": _exec, "eval": _exec, "print": _nothing, "open": _open, "input": lambda call: _unknown(call),
    "id": lambda call: _unknown(call), "hash": lambda call: _unknown(call), "dir": lambda call: _unknown(call), "__import__": lambda call: External(str(call.args[0])),
    "exit": _nothing, "quit": _nothing, "breakpoint": _nothing,
    "int": _plain(int), "float": _plain(float), "str": _plain(str), "bool": lambda call: _bool(call), "bytes": _plain(bytes), "complex": _plain(complex),
    "abs": _plain(abs), "round": _plain(round), "pow": _plain(pow), "divmod": _plain(divmod), "chr": _plain(chr), "ord": _plain(ord), "repr": _plain(repr),
    "hex": _plain(hex), "bin": _plain(bin), "format": _plain(format), "slice": _plain(slice), "ascii": _plain(ascii),
    "property": lambda call: Property(call.get(0, "fget"), call.get(1, "fset")), "staticmethod": lambda call: StaticMethod(call.args[0]),
    "classmethod": lambda call: ClassMethod(call.args[0]),
}  # fmt: skip


def _bool(call: Call) -> Value:
    if not call.args:
        return False
    decided = call.machine.truth(call.args[0], call.span) if not isinstance(call.args[0], (Symbol, Alternatives)) else None
    return call.args[0] if decided is None else decided


#: Built-in functions that are also types, for ``isinstance``.
TYPES: dict[str, type] = {
    "list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "dict": dict, "int": int, "float": float, "str": str, "bool": bool,
    "bytes": bytes, "complex": complex, "range": range, "slice": slice, "type": type,
}  # fmt: skip

BUILTINS: dict[str, Value] = {name: HostFunction(name, run) for name, run in _FUNCTIONS.items()}
BUILTINS.update(EXCEPTIONS)
BUILTINS.update({"object": Class("object", "builtins.object", (), {}), "NotImplemented": NotImplemented, "Ellipsis": ..., "__debug__": True, "__name__": "__main__"})
BUILTINS.update({"bytearray": External("builtins.bytearray"), "memoryview": External("builtins.memoryview")})
