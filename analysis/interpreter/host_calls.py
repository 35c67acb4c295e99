"""Calls of host callables: a container's or string's method, a type, or what a domain brought."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING

from analysis.interpreter.affordable import call_is_too_large
from analysis.interpreter.builtins import MUTATORS, REMOVERS
from analysis.interpreter.signals import GuestRaise
from analysis.interpreter.values import (
    MISSING,
    Alternatives,
    External,
    Function,
    Guarded,
    GuestDict,
    GuestList,
    GuestSet,
    HostValue,
    Method,
    Partial,
    Symbol,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from analysis.interpreter.machine import Machine
    from analysis.source import Span


def call_host(machine: Machine, callee: Callable[..., Value], args: list[Value], kwargs: dict[str, Value], span: Span) -> Value:
    """A callable of the host: a container's or string's method, a type, or what a domain brought."""
    receiver = getattr(callee, "__self__", None)
    name = getattr(callee, "__name__", "")
    machine.domain.before_call(machine, span)
    if isinstance(receiver, (list, dict, set)):
        return _container_method(machine, receiver, name, callee, args, kwargs, span)
    unknown = next((value for value in (*args, *kwargs.values()) if isinstance(value, (Symbol, Alternatives, External))), None)
    if unknown is not None and _is_plain(callee, receiver):
        made = Symbol(
            f"{name}({unknown!r})",
            span,
            getattr(unknown, "stamp", machine.stamp),
            rank_varying=any(getattr(each, "rank_varying", False) for each in (*args, *kwargs.values())),
        )
        made.source, made.test = unknown, (f"{name}()", *args)
        return made
    if call_is_too_large(name, receiver, args, kwargs.values()):
        return Symbol("a very large value", span, machine.stamp)
    given = [_host_argument(machine, value, span) for value in args]
    named = {key: _host_argument(machine, value, span) for key, value in kwargs.items()}
    try:
        return fresh(machine, callee(*given, **named), span)
    except (GuestRaise, StopIteration):
        raise
    except Exception as error:  # noqa: BLE001  the guest's error or a gap of the domain: one place decides
        machine.refused = (*args, *kwargs.values())
        return machine.domain.host_failed(machine, callee, error, span)


def _is_plain(callee: Callable[..., Value], receiver: Value) -> bool:
    """Whether it computes on plain values only, so that an unknown operand makes the result unknown."""
    if isinstance(callee, type):
        return not issubclass(callee, HostValue)
    return isinstance(receiver, (str, bytes, int, float, tuple, frozenset, range))


def _host_argument(machine: Machine, value: Value, span: Span) -> Value:
    """Guest functions are handed to host code as host callables."""
    return machine.as_host(value, span) if isinstance(value, (Function, Method, Partial, Guarded)) else value


def _container_method(
    machine: Machine, receiver: Value, name: str, callee: Callable[..., Value], args: list[Value], kwargs: dict[str, Value], span: Span
) -> Value:
    if name in MUTATORS:
        machine.heap.touch(receiver)
        if name in {"extend", "update"} and args:
            args = [_brought(machine, name, args[0], span), *args[1:]]
        if machine.domain.watches_stores and name in {"append", "add", "extend", "insert", "appendleft", "update", "setdefault"}:
            args = _watched(machine, receiver, name, args, span)
        if machine.domain.watches_stores and name in REMOVERS:
            machine.domain.stored(machine, receiver, None, MISSING, span)
    if name == "sort" and "key" in kwargs:
        return None
    if name == "get" and args and isinstance(args[0], (Symbol, Alternatives)):
        return machine.getitem(receiver, args[0], span)
    if name in {"pop", "popleft", "popitem"} and not receiver and not args[1:]:
        return Symbol("an item of an empty collection", span, machine.stamp)
    try:
        return fresh(machine, callee(*args, **kwargs), span)
    except Exception as error:  # noqa: BLE001  the guest's error or a gap of the domain: one place decides
        machine.refused = (*args, *kwargs.values())
        return machine.domain.host_failed(machine, callee, error, span)


def _brought(machine: Machine, name: str, given: Value, span: Span) -> Value:
    if isinstance(given, dict) or (isinstance(given, HostValue) and isinstance(given, Sized)):
        return given
    if isinstance(given, (Symbol, External)):
        return machine.domain.brought(machine, given, span) if name == "extend" else []
    return machine.whole(given, span)


def _watched(machine: Machine, receiver: Value, name: str, args: list[Value], span: Span) -> list[Value]:
    if not args:
        return args
    if name in {"extend", "update"}:
        values = args[0].values() if isinstance(args[0], dict) else args[0]
        for value in {id(each): each for each in values}.values():  # a list that is doubled again and again holds few objects many times
            machine.domain.stored(machine, receiver, None, value, span)
        return args
    *first, value = args
    return [*first, machine.domain.stored(machine, receiver, None, value, span)]


def fresh(machine: Machine, value: Value, span: Span) -> Value:
    """A container that host code made, as one made here."""
    kind = type(value)
    if kind is list:
        made: Value = GuestList(value)
    elif kind is dict:
        made = GuestDict(value)
    elif kind is set:
        made = GuestSet(value)
    else:
        return value
    made.span, made.stamp = span, machine.stamp
    return made
