"""Plain Python that has to be exact on the tape: numbers decide shapes, and missing files decide branches."""

from __future__ import annotations

import inspect
import itertools
import math
import posixpath
from collections.abc import Callable
from typing import Any

from analysis.interpreter.builtins import BUILTINS
from analysis.interpreter.values import Call, Class, Function, GuestDict, HostFunction, HostValue, Method, Symbol, Value


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


def _exists(call: Call) -> Value:
    """Files made by earlier runs are taken not to be there: a run from the start needs most memory."""
    path = call.args[0]
    return isinstance(path, str) and posixpath.normpath(path) in call.machine.snapshot.paths


NAMES: dict[str, Value] = {f"math.{name}": getattr(math, name) for name in dir(math) if not name.startswith("_")}
NAMES.update(
    {
        "inspect.signature": HostFunction("inspect.signature", _signature),
        "os.path.exists": HostFunction("os.path.exists", _exists),
        "os.path.isfile": HostFunction("os.path.isfile", _exists),
        "os.path.isdir": HostFunction("os.path.isdir", _exists),
        "os.path.join": HostFunction("os.path.join", lambda call: posixpath.join(*call.args) if all(isinstance(a, str) for a in call.args) else Symbol("a path", call.span)),
    }
)


def _environment(call: Call) -> Value:
    """A variable of the environment: not set, so its default decides (one process, one device)."""
    return call.get(1, "default")


NAMES.update({"os.environ.get": HostFunction("os.environ.get", _environment), "os.getenv": HostFunction("os.getenv", _environment)})


def _iterated(function: Callable[..., Any]) -> HostFunction:
    """A function of the host on the items of its arguments."""
    return HostFunction(function.__name__, lambda call: function(*(call.machine.iterate(value, call.span) for value in call.args)))


def _islice(call: Call) -> Value:
    return itertools.islice(call.machine.iterate(call.args[0], call.span), *call.args[1:])


def _repeat(call: Call) -> Value:
    return itertools.repeat(*call.args)


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


NAMES.update(
    {
        "itertools.cycle": _iterated(itertools.cycle),
        "itertools.product": _iterated(itertools.product),
        "itertools.count": itertools.count,
        "itertools.islice": HostFunction("itertools.islice", _islice),
        "itertools.repeat": HostFunction("itertools.repeat", _repeat),
        "collections.OrderedDict": HostFunction("dict", BUILTINS["dict"].run),
        "collections.deque": HostFunction("list", lambda call: BUILTINS["list"].run(Call(call.machine, call.args[:1], {}, call.span))),
        "collections.defaultdict": HostFunction("collections.defaultdict", _defaultdict),
        "tqdm.tqdm": HostFunction("tqdm.tqdm", lambda call: call.get(0, "iterable")),
        "tqdm.auto.tqdm": HostFunction("tqdm.tqdm", lambda call: call.get(0, "iterable")),
        "tqdm.trange": HostFunction("tqdm.trange", lambda call: range(*call.args)),
        "typing.cast": HostFunction("typing.cast", lambda call: call.args[1]),
    }
)
