"""Plain Python that has to be exact on the tape: numbers decide shapes, and missing files decide branches."""

from __future__ import annotations

import ast
import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any

from analysis.interpreter.builtins import BUILTINS
from analysis.interpreter.exceptions import guest_error
from analysis.interpreter.values import Call, Class, Function, GuestDict, GuestList, HostFunction, HostValue, Method, Symbol, Value


class Signature(HostValue):
    """``inspect.signature(f)``: its ``parameters`` by name."""

    __slots__ = ("parameters",)

    def __init__(self, names: tuple[str, ...]) -> None:
        self.parameters: dict[str, str] = dict.fromkeys(names, "")


def _signature(call: Call) -> Value:
    function = call.args[0]
    inner = function.function if isinstance(function, Method) else function
    if isinstance(inner, Class):
        inner = inner.find("__init__")
    if isinstance(inner, Function):
        return Signature(tuple(argument.arg for argument in (*inner.node.args.args, *inner.node.args.kwonlyargs)))
    if callable(inner):
        return Signature(tuple(inspect.signature(inner).parameters))
    return Symbol("the signature of something that was not followed", call.span)


NAMES: dict[str, Value] = {f"math.{name}": getattr(math, name) for name in dir(math) if not name.startswith("_")}
NAMES["inspect.signature"] = HostFunction("inspect.signature", _signature)


def _iterated(function: Callable[..., Any]) -> HostFunction:
    """A function of the host on the items of its arguments."""
    return HostFunction(function.__name__, lambda call: function(*(call.machine.iterate(value, call.span) for value in call.args)))


def _islice(call: Call) -> Value:
    return itertools.islice(call.machine.iterate(call.args[0], call.span), *call.args[1:])


def _repeat(call: Call) -> Value:
    return itertools.repeat(*call.args)


class Deque(GuestList):
    """``collections.deque``: a list that also grows at its left end; a bounded one is not cut."""

    __slots__ = ()

    def appendleft(self, value: Value) -> None:
        """Put in front."""
        self.insert(0, value)

    def popleft(self) -> Value:
        """Take from the front."""
        return self.pop(0)

    def extendleft(self, values: Any) -> None:
        """Put in front one after another."""
        for value in values:
            self.insert(0, value)

    def rotate(self, _steps: int = 1) -> None:
        """Who comes first does not matter."""


def _deque(call: Call) -> Value:
    made = Deque(call.machine.items(call.args[0], call.span) if call.args else ())
    made.span, made.stamp = call.span, call.machine.stamp
    return made


def _defaultdict(call: Call) -> Value:
    made = DefaultDict()
    made.factory = call.args[0] if call.args else None
    made.machine = call.machine
    return made


class DefaultDict(GuestDict):
    """``collections.defaultdict``."""

    __slots__ = ("factory", "machine")

    factory: Value
    machine: Any

    def __missing__(self, key: Value) -> Value:
        value = self[key] = self.machine.call(self.factory, [], {}, self.machine.span)
        return value


def _literal(call: Call) -> Value:
    """``ast.literal_eval``: of a text that is no literal, the error that a script waits for."""
    text = call.args[0]
    if not isinstance(text, str):
        return Symbol("ast.literal_eval(…)", call.span, call.machine.stamp)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError) as error:
        raise guest_error(error, call.span) from None


NAMES.update({f"numbers.{name}": BUILTINS["int" if name == "Integral" else "float"] for name in ("Integral", "Real", "Number")})
NAMES.update(
    {
        "ast.literal_eval": HostFunction("ast.literal_eval", _literal),
        "itertools.cycle": _iterated(itertools.cycle),
        "itertools.product": _iterated(itertools.product),
        "itertools.count": itertools.count,
        "itertools.islice": HostFunction("itertools.islice", _islice),
        "itertools.repeat": HostFunction("itertools.repeat", _repeat),
        "collections.OrderedDict": HostFunction("dict", BUILTINS["dict"].run),
        "collections.deque": HostFunction("collections.deque", _deque),
        "collections.defaultdict": HostFunction("collections.defaultdict", _defaultdict),
        "typing.cast": HostFunction("typing.cast", lambda call: call.args[1]),
    }
)
