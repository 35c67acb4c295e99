"""``dataclasses``: the constructor that a decorated class gets from its annotations."""

from __future__ import annotations

import ast
from typing import Any

from analysis.interpreter.values import MISSING, Call, Class, External, Function, HostFunction, Instance, Method, Property, Symbol, Value
from analysis.library.knowledge import Subject

SUBJECT = Subject()


class Field:
    """``dataclasses.field(…)``: a default, or the function that makes one."""

    __slots__ = ("default", "factory", "init")

    def __init__(self, default: Value, factory: Value, *, init: bool) -> None:
        self.default = default
        self.factory = factory
        self.init = init


@SUBJECT.function("dataclasses.field")
def _field(call: Call) -> Value:
    init = call.kwargs.get("init", True)
    return Field(call.kwargs.get("default", MISSING), call.kwargs.get("default_factory", MISSING), init=init is not False)


@SUBJECT.function("dataclasses.dataclass")
def _dataclass(call: Call) -> Value:
    if call.args and isinstance(call.args[0], Class):
        return _decorated(call.args[0])
    slots = call.kwargs.get("slots") is True
    return HostFunction("dataclasses.dataclass", lambda inner: _decorated(inner.args[0], slots=slots) if isinstance(inner.args[0], Class) else inner.args[0])


def _decorated(cls: Class, *, slots: bool = False) -> Class:
    """The class with its fields noted and, where it has none of its own, a constructor."""
    fields: dict[str, Any] = {}
    for owner in reversed(cls.mro):
        fields.update(_own_fields(owner))
    cls.metadata["fields"] = fields
    for name, value in fields.items():
        if isinstance(value, Field) and name in cls.namespace:
            if value.default is MISSING:
                del cls.namespace[name]
            else:
                cls.namespace[name] = value.default
    if "__init__" not in cls.namespace:
        cls.namespace["__init__"] = HostFunction(f"{cls.name}.__init__", _construct)
    cls.namespace.setdefault("__dataclass_fields__", fields)
    if slots:
        cls.namespace["__slots__"] = tuple(fields)
    return cls


def _own_fields(owner: Class) -> dict[str, Any]:
    known = owner.metadata.get("fields")
    if known is not None:
        return dict(known)
    annotations = owner.namespace.get("__annotations__", {})
    return {name: owner.namespace.get(name, MISSING) for name, annotation in annotations.items() if not _is_class_variable(annotation)}


def _is_class_variable(annotation: Value) -> bool:
    return isinstance(annotation, ast.AST) and "ClassVar" in ast.unparse(annotation)


def _construct(call: Call) -> Value:
    machine, receiver = call.machine, call.args[0]
    if not isinstance(receiver, Instance):
        return None
    given = list(call.args[1:])
    spread = call.kwargs.get("**")
    places = machine.argument_places
    machine.argument_places = ([], {})
    position = 0
    for name, default in fields_of(receiver.cls).items():
        place = None
        if isinstance(default, Field) and not default.init:
            value = _default(call, name, default)
        elif position < len(given):
            value, place = given[position], places[0][position] if position < len(places[0]) else None
            position += 1
        elif name in call.kwargs:
            value, place = call.kwargs[name], places[1].get(name)
        elif isinstance(spread, Symbol):
            value = spread.part(f"[{name!r}]")
        else:
            value = _default(call, name, default)
        machine.heap.write(receiver.fields, name, value)
        if machine.domain.tracks_places:
            machine.places[(id(receiver.fields), name)] = place or receiver.cls.span or call.span
    _inherited(call, receiver)
    after = receiver.cls.find("__post_init__")
    if isinstance(after, Function):
        machine.call(after, [receiver], {}, call.span)
    return None


def _inherited(call: Call, receiver: Instance) -> None:
    """A library's record with a constructor of its own gets what was given, and the fields of the class built on it."""
    machine, names = call.machine, fields_of(receiver.cls)
    above = next((owner for owner in receiver.cls.mro if "fields" not in owner.metadata and isinstance(owner.namespace.get("__init__"), Function)), None)
    if above is None:
        return
    given = {name: value for name, value in call.kwargs.items() if name != "**"} | {name: receiver.fields[name] for name in names}
    if machine.domain.tracks_places:
        machine.argument_places = ([], {name: machine.place_of(receiver.fields, name) for name in names})
    machine.call(Method(above.namespace["__init__"], receiver), [], given, call.span)


def fields_of(cls: Class) -> dict[str, Any]:
    """The fields of a dataclass and their defaults, inherited ones first; empty for another class."""
    return next((owner.metadata["fields"] for owner in cls.mro if "fields" in owner.metadata), {})


def _default(call: Call, name: str, default: Any) -> Value:
    if isinstance(default, Field):
        if default.factory is not MISSING:
            return call.machine.call(default.factory, [], {}, call.span)
        default = default.default
    if default is MISSING:
        return Symbol(f"the field {name}", call.span, call.machine.stamp)
    return default


@SUBJECT.function("dataclasses.asdict")
def _asdict(call: Call) -> Value:
    return _plain(call.args[0])


def _plain(value: Value) -> Value:
    if isinstance(value, Instance) and fields_of(value.cls):
        return {name: _plain(value.fields.get(name)) for name in fields_of(value.cls)}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(item) for item in value)
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value


@SUBJECT.function("dataclasses.replace")
def _replace(call: Call) -> Value:
    source = call.args[0]
    if not isinstance(source, Instance):
        return Symbol("a replaced record", call.span, call.machine.stamp)
    made = call.machine.instance(source.cls, call.span)
    made.fields.update({**source.fields, **call.kwargs})
    return made


@SUBJECT.function("dataclasses.fields")
def _fields(call: Call) -> Value:
    value = call.args[0]
    cls = value.cls if isinstance(value, Instance) else value
    if not isinstance(cls, Class):
        return ()
    found = []
    type_of_field = Property(HostFunction("type", lambda inner: Symbol("a type", inner.span)))
    for name, default in fields_of(cls).items():
        field = Instance(Class("Field", "dataclasses.Field", (), {"name": name, "type": type_of_field}), call.span)
        value, factory = (default.default, default.factory) if isinstance(default, Field) else (default, MISSING)
        field.fields.update({"name": name, "default": _or_missing(value), "default_factory": _or_missing(factory)})
        found.append(field)
    return tuple(found)


def _or_missing(value: Value) -> Value:
    return External("dataclasses.MISSING") if value is MISSING else value


@SUBJECT.function("dataclasses.is_dataclass")
def _is_dataclass(call: Call) -> Value:
    value = call.args[0]
    cls = value.cls if isinstance(value, Instance) else value
    return isinstance(cls, Class) and bool(fields_of(cls))
