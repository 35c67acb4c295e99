"""Records that check what they are given: pydantic's and attrs' classes, made of their annotations like dataclasses, nested ones of plain dicts."""

from __future__ import annotations

import ast
from typing import Any

from analysis.interpreter.values import MISSING, Call, Class, GuestDict, HostFunction, Instance, Symbol, Value
from analysis.library.knowledge import Subject
from estimator.library.dataclass import Field, fields_of

SUBJECT = Subject()
_MODEL = SUBJECT.cls("pydantic.BaseModel")


def _annotated(cls: Class) -> dict[str, tuple[Any, Value, Class]]:
    """The fields of a class and of those it is built on: annotation, default and owner."""
    found: dict[str, tuple[Any, Value, Class]] = {}
    for owner in reversed(cls.mro):
        for name, annotation in owner.namespace.get("__annotations__", {}).items():
            if name != "model_config":
                found[name] = (annotation, owner.namespace.get(name, MISSING), owner)
    return found


@_MODEL.method("__init__")
def _construct(call: Call) -> Value:
    machine, receiver = call.machine, call.args[0]
    places = machine.argument_places[1]
    machine.argument_places = ([], {})
    spread = call.kwargs.get("**")
    for name, (annotation, default, owner) in _annotated(receiver.cls).items():
        value = call.kwargs.get(name, spread.part(f"[{name!r}]") if isinstance(spread, Symbol) else MISSING)
        if value is MISSING:
            value, place = _default(call, name, default), receiver.cls.span
        else:
            value, place = _nested(call, annotation, owner, value), places.get(name)
        machine.heap.write(receiver.fields, name, value)
        if place is not None:
            machine.places[id(receiver.fields), name] = place
    return None


def _default(call: Call, name: str, default: Value) -> Value:
    if isinstance(default, Field):
        if default.factory is not MISSING:
            return call.machine.call(default.factory, [], {}, call.span)
        default = default.default
    return Symbol(f"the field {name}", call.span) if default is MISSING or default is ... else default


def _nested(call: Call, annotation: Any, owner: Class, value: Value) -> Value:
    """A dict for a field that is annotated with a record becomes that record."""
    if not isinstance(value, (dict, str, int)) or not isinstance(annotation, ast.AST):
        return value
    cls = _class_named(call, ast.unparse(annotation).strip("'\"").removeprefix("Optional[").removesuffix("]").partition(" |")[0], owner)
    if not isinstance(cls, Class):
        return value
    if isinstance(value, dict):
        return made_of(call, cls, value)
    return call.machine.call(cls, [value], {}, call.span) if "members" in cls.metadata else value


def _class_named(call: Call, name: str, owner: Class) -> Value:
    module = call.machine.loaded.get(owner.span.path) if owner.span is not None else None
    return getattr(module, "vars", {}).get(name, MISSING)


def made_of(call: Call, cls: Class, settings: dict[Any, Value]) -> Value:
    """An object of ``cls`` with these settings as its arguments; each keeps the line where it is written."""
    machine = call.machine
    given = {str(key): value for key, value in settings.items()}
    if fields_of(cls):
        known = _annotated(cls)
        given = {key: _nested(call, known[key][0], known[key][2], value) if key in known else value for key, value in given.items()}
    if machine.domain.tracks_places:
        machine.argument_places = ([], {key: machine.place_of(settings, key) for key in given})
    return machine.call(cls, [], given, call.span)


@_MODEL.static("model_validate", "parse_obj", "from_dict")
def _validated(call: Call) -> Value:
    return Symbol("a record made of something that was not followed", call.span)


@_MODEL.method("model_dump", "dict")
def _dumped(call: Call) -> Value:
    return _plain(call.args[0])


def _plain(value: Value) -> Value:
    if isinstance(value, Instance):
        return GuestDict({name: _plain(item) for name, item in value.fields.items()})
    return value


@_MODEL.method("model_copy", "copy")
def _copied(call: Call) -> Value:
    made = call.machine.instance(call.args[0].cls, call.span)
    made.fields.update({**call.args[0].fields, **(call.kwargs.get("update") or {})})
    return made


@SUBJECT.function("pydantic.Field", "attrs.field", "attr.ib", "attr.field")
def _field(call: Call) -> Value:
    default = call.args[0] if call.args else call.kwargs.get("default", MISSING)
    factory = call.kwargs.get("default_factory", call.kwargs.get("factory", MISSING))
    return Field(MISSING if default is ... else default, factory, init=True)


@SUBJECT.function("dacite.from_dict")
def _from_dict(call: Call) -> Value:
    cls, data = call.get(0, "data_class"), call.get(1, "data")
    return made_of(call, cls, data) if isinstance(cls, Class) and isinstance(data, dict) else Symbol("a record", call.span)


def _dataclass(call: Call) -> Value:
    return call.machine.call(call.machine.domain.lookup("dataclasses.dataclass"), list(call.args), dict(call.kwargs), call.span)


for _name in ("attrs.define", "attrs.frozen", "attr.s", "attr.define", "attr.dataclass", "pydantic.dataclasses.dataclass"):
    SUBJECT.values[_name] = HostFunction(_name, _dataclass)
SUBJECT.values["pydantic.ConfigDict"] = HostFunction("pydantic.ConfigDict", lambda _call: None)
for _name in ("pydantic.field_validator", "pydantic.validator", "pydantic.model_validator"):
    SUBJECT.values[_name] = HostFunction(_name, lambda _call: HostFunction("validator", lambda inner: inner.args[0]))
