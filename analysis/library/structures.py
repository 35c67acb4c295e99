"""Named tuples, and the decorators and casts that leave a function or value what it is."""

from __future__ import annotations

import ast

from analysis.interpreter.values import MISSING, Call, Class, Function, HostFunction, Symbol, Value
from analysis.library.knowledge import Example, Subject

SUBJECT = Subject(
    examples=(
        Example(
            """
import contextlib
import functools
from collections import namedtuple
from dataclasses import dataclass, field

import torch

Pair = namedtuple("Pair", ["net", "rate"])

@dataclass
class Config:
    lr: float = 0.1
    layers: list = field(default_factory=lambda: [torch.nn.Linear(1, 1)])

@contextlib.contextmanager
def evaluating(net):
    net.eval()
    try:
        yield net
    finally:
        net.train()

config = Config(lr=0.2)
pair = Pair(config.layers[0], config.lr)
net, rate = pair
make = functools.partial(torch.optim.SGD, lr=rate)
make(pair.net.parameters())
with evaluating(net) as same:
    same(torch.zeros(1, 1))
""",
            ("optimizer_built SGD", "eval Linear", "forward Linear", "train Linear"),
        ),
    ),
)

_NAMED_TUPLE = SUBJECT.cls("typing.NamedTuple")


def _names_of(cls: Class) -> list[str]:
    found: dict[str, None] = {}
    for owner in reversed(cls.mro):
        found.update(dict.fromkeys(owner.namespace.get("__annotations__", {})))
    return list(found)


@_NAMED_TUPLE.method("__init__")
def _fill(call: Call) -> Value:
    instance, *given = call.args
    for index, name in enumerate(_names_of(instance.cls)):
        value = given[index] if index < len(given) else call.kwargs.get(name, instance.cls.find(name))
        instance.fields[name] = Symbol(name, call.span, call.machine.stamp) if value is MISSING else value


@_NAMED_TUPLE.method("__iter__")
def _items(call: Call) -> Value:
    return [call.args[0].fields[name] for name in _names_of(call.args[0].cls) if name in call.args[0].fields]


@_NAMED_TUPLE.method("__getitem__")
def _item(call: Call) -> Value:
    return call.machine.getitem(_items(call), call.args[1], call.span)


@_NAMED_TUPLE.property("_fields")
def _fields(call: Call) -> Value:
    return tuple(_names_of(call.args[0].cls))


@_NAMED_TUPLE.method("_asdict")
def _as_dict(call: Call) -> Value:
    return dict(call.args[0].fields)


@_NAMED_TUPLE.method("_replace")
def _replace(call: Call) -> Value:
    made = call.machine.instance(call.args[0].cls, call.span)
    made.fields.update({**call.args[0].fields, **call.kwargs})
    return made


@SUBJECT.function("collections.namedtuple")
def _named_tuple(call: Call) -> Value:
    name, names = call.get(0, "typename", "Tuple"), call.get(1, "field_names", "")
    listed = names.replace(",", " ").split() if isinstance(names, str) else [each for each in call.machine.items(names, call.span) if isinstance(each, str)]
    annotations = {each: ast.Constant(None) for each in listed}
    return Class(str(name), f"collections.{name}", (call.machine.domain.lookup("typing.NamedTuple"),), {"__annotations__": annotations}, call.span)


@SUBJECT.function(
    "functools.total_ordering", "functools.singledispatch", "abc.abstractmethod", "typing.overload", "typing.final", "typing.no_type_check",
    "typing.runtime_checkable", "typing_extensions.override", "typing.override", "enum.unique", "numba.njit", "numba.jit",
    "torch.distributed.elastic.multiprocessing.errors.record", "beartype.beartype", "jaxtyping.jaxtyped", "overrides.overrides",
)  # fmt: skip
def _unchanged(call: Call) -> Value:
    """A decorator that leaves the function what it is, with or without arguments."""
    if call.args and isinstance(call.args[0], (Function, Class, HostFunction)):
        return call.args[0]
    return HostFunction("decorator", lambda inner: inner.args[0])


@SUBJECT.function("typing.cast")
def _cast(call: Call) -> Value:
    return call.args[1]


SUBJECT.values["typing.TYPE_CHECKING"] = False
