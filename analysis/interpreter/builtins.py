"""Python's built-in functions on guest values. What a symbol makes undecided stays a symbol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis.interpreter import reflection, sequences
from analysis.interpreter.affordable import call_is_too_large
from analysis.interpreter.exceptions import EXCEPTIONS, guest_error
from analysis.interpreter.reflection import UNKNOWN, made, unknown
from analysis.interpreter.sequences import collected
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
    return collected(call, items, unknown_before)


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


#: Functions whose result is a number made of the one that they are given.
_NUMBERS = (int, float, abs, round)


def _plain(function: Callable[..., Any]) -> Callable[[Call], Value]:
    """A built-in that computes on plain values only."""

    def run(call: Call) -> Value:
        values = (*call.args, *call.kwargs.values())
        if any(isinstance(value, (*UNKNOWN, Instance)) for value in values):
            special = _special(call, function.__name__)
            if special is not MISSING:
                return special
            made = unknown(call, *values)
            made.test = (f"{function.__name__}()", values[0]) if function in _NUMBERS and (function is round or len(values) == 1) else ()
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
    "list": _list, "tuple": _tuple, "set": _set, "frozenset": _set, "dict": _dict, "len": _len, "iter": _iter, "next": _next,
    "exec": _exec, "eval": _exec, "print": _nothing, "open": _open, "input": unknown,
    "id": unknown, "hash": unknown, "dir": unknown, "__import__": lambda call: External(str(call.args[0])),
    "exit": _nothing, "quit": _nothing, "breakpoint": _nothing,
    "int": _plain(int), "float": _plain(float), "str": _plain(str), "bool": _bool, "bytes": _plain(bytes), "complex": _plain(complex),
    "abs": _plain(abs), "round": _plain(round), "pow": _plain(pow), "divmod": _plain(divmod), "chr": _plain(chr), "ord": _plain(ord), "repr": _plain(repr),
    "hex": _plain(hex), "bin": _plain(bin), "format": _plain(format), "slice": _plain(slice), "ascii": _plain(ascii),
    "property": lambda call: Property(call.get(0, "fget"), call.get(1, "fset")), "staticmethod": lambda call: StaticMethod(call.args[0]),
    "classmethod": lambda call: ClassMethod(call.args[0]),
}  # fmt: skip


BUILTINS: dict[str, Value] = {name: HostFunction(name, run) for name, run in {**reflection.FUNCTIONS, **sequences.FUNCTIONS, **_FUNCTIONS}.items()}
BUILTINS.update(EXCEPTIONS)
BUILTINS["object"] = Class("object", "builtins.object", (), {})
BUILTINS.update({"NotImplemented": NotImplemented, "Ellipsis": ..., "__debug__": True, "__name__": "__main__"})
BUILTINS.update({"bytearray": External("builtins.bytearray"), "memoryview": External("builtins.memoryview")})
