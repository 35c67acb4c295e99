"""``dataclasses``: the constructor that a decorated class gets from its annotations."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from analysis.interpreter.classes import is_record
from analysis.interpreter.values import MISSING, Call, Class, External, GuestDict, HostFunction, Instance, Value
from analysis.library.configured_windows import given as given_window
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject

SUBJECT = Subject(
    examples=(
        Example(
            """
from dataclasses import dataclass, field
import torch

@dataclass
class Base:
    lr: float = 0.1

@dataclass
class Config(Base):
    layers: list = field(default_factory=lambda: [torch.nn.Linear(1, 1)])
    name: str = field(default="x")

    def __post_init__(self):
        self.optimizer = torch.optim.SGD(self.layers[0].parameters(), lr=self.lr)

Config(lr=0.2).optimizer.step()
""",
            ("optimizer_built SGD", "step SGD"),
        ),
    ),
)

_FIELD = SUBJECT.cls("dataclasses.Field")
SUBJECT.alias("dataclasses.Field", "dataclasses.field", "attr.ib", "attr.field", "attrs.field", "pydantic.Field")


@_FIELD.method("__init__")
def _field(call: Call) -> Value:
    call.args[0].fields.update({**call.kwargs, **({"default": call.args[1]} if len(call.args) > 1 else {})})


@SUBJECT.function("dataclasses.dataclass", "attr.s", "attr.define", "attr.dataclass", "attrs.define", "pydantic.dataclasses.dataclass")
def _dataclass(call: Call) -> Value:
    if call.args and isinstance(call.args[0], Class):
        return _decorated(call.args[0], call.kwargs)
    return HostFunction("dataclass", lambda inner: _decorated(inner.args[0], call.kwargs))


def _decorated(cls: Value, options: Mapping[str, Value]) -> Value:
    if not isinstance(cls, Class):
        return cls
    if "__init__" not in cls.namespace:
        cls.namespace["__init__"] = HostFunction("__init__", lambda call: _fill(call, cls))
        cls.metadata["fields"] = annotations_of(cls)
        cls.metadata["kw_only"] = options.get("kw_only", False)
    if options.get("slots") is True:
        cls.namespace["__slots__"] = tuple(cls.namespace.get("__annotations__", {}))
    return cls


def annotations_of(cls: Class) -> dict[str, ast.expr]:
    """Names and annotations of a class's fields, those of its bases first."""
    found: dict[str, ast.expr] = {}
    for owner in reversed(cls.mro):
        found.update(owner.namespace.get("__annotations__", {}))
    return {name: node for name, node in found.items() if not isinstance(node, ast.AST) or not _is_of_the_class(node)}


@lru_cache(maxsize=4096)
def _is_of_the_class(annotation: ast.AST) -> bool:
    """Whether it says of a variable that it belongs to the class; kept, since each object that is made asks for all of them."""
    return "ClassVar" in ast.unparse(annotation)


def default_of(cls: Class, name: str) -> Value:
    """What a field is where nobody passes anything, or ``MISSING`` if that is made anew each time or has to be passed."""
    default = cls.find(name)
    return default.fields.get("default", MISSING) if _is_field(default) else default


def _fill(call: Call, cls: Class) -> Value:
    instance, *given = call.args
    position = 0
    for name, annotation in annotations_of(cls).items():
        default = cls.find(name)
        takes = not (_is_field(default) and default.fields.get("init") is False)
        if takes and position < len(given):
            value = given[position]
        elif takes and name in call.kwargs:
            value = call.kwargs[name]
        else:
            value = _default(call, default, name, annotation)
            if takes and "**" in call.kwargs and (value is None or isinstance(value, bool)):
                value = domain_of(call).casting.symbol(name, call.span, ())  # a switch that the configuration may set
        position += takes
        call.machine.setattr(instance, name, value, call.span)
    after = cls.find("__post_init__")
    if after is not MISSING:
        call.machine.call(after, [instance], {}, call.span)


def _is_field(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls.dotted == "dataclasses.Field"


def _default(call: Call, default: Value, name: str, annotation: ast.expr) -> Value:
    if _is_field(default):
        factory = default.fields.get("default_factory", default.fields.get("factory", MISSING))
        if factory is not MISSING:
            return call.machine.call(factory, [], {}, call.span)
        default = default.fields.get("default", MISSING)
    if default is not MISSING:
        return given_window(domain_of(call), name, default)
    casting = domain_of(call).casting
    if isinstance(annotation, ast.AST):
        casting.annotated[(name, call.span)] = ast.unparse(annotation)
    return casting.symbol(name, call.span, ())


@SUBJECT.function("dataclasses.asdict", "attr.asdict", "dataclasses.astuple")
def _as_dict(call: Call) -> Value:
    value = call.args[0]
    made = GuestDict({name: value.fields.get(name) for name in annotations_of(value.cls)} if isinstance(value, Instance) else {})
    made.span, made.stamp = call.span, call.machine.stamp
    return made


@SUBJECT.function("dataclasses.replace", "attr.evolve")
def _replace(call: Call) -> Value:
    value = call.args[0]
    if not isinstance(value, Instance):
        return value
    copied = call.machine.instance(value.cls, call.span)
    copied.fields.update({**value.fields, **call.kwargs})
    return copied


@SUBJECT.function("dataclasses.is_dataclass")
def _is_dataclass(call: Call) -> Value:
    cls = _class_of(call.args[0])
    return is_record(cls) if cls is not None else domain_of(call).casting.symbol("whether it is a dataclass", call.span, ())


@SUBJECT.function("dataclasses.fields")
def _fields(call: Call) -> Value:
    """The fields with what is known of each; what stands in a library's class is not."""
    cls = _class_of(call.args[0])
    if cls is None or not is_record(cls):
        return domain_of(call).casting.symbol("the fields of a dataclass", call.span, ())
    return tuple(_described(call, cls, name) for name in annotations_of(cls))


def _class_of(value: Value) -> Class | None:
    return value if isinstance(value, Class) else value.cls if isinstance(value, Instance) else None


def _described(call: Call, cls: Class, name: str) -> Instance:
    """The field ``name`` as ``dataclasses.fields`` shows it."""
    given = cls.find(name)
    made = call.machine.instance(domain_of(call).library.cls("dataclasses.Field"), call.span)
    absent = External("dataclasses.MISSING")
    made.fields.update({"name": name, "type": domain_of(call).casting.symbol(f"the type of {name}", call.span, ()), "init": True})
    made.fields.update({"default": absent, "default_factory": absent, "kw_only": _is_by_name(cls, name), "metadata": {}})
    made.fields.update(given.fields if _is_field(given) else {} if given is MISSING else {"default": given})
    return made


def _is_by_name(cls: Class, name: str) -> Value:
    """Whether the class that brings the field takes it by its name alone."""
    return next((owner.metadata.get("kw_only", False) for owner in cls.mro if name in owner.namespace.get("__annotations__", {})), False)
