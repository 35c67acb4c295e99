"""Attributes and items: how a name or an index on a value is found, and written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from analysis.interpreter import imports
from analysis.interpreter.containers import name_by_keys
from analysis.interpreter.exceptions import dead_end, guest_error, survived
from analysis.interpreter.generators import Generator
from analysis.interpreter.joins import join
from analysis.interpreter.plain_objects import accessor, of_object, write
from analysis.interpreter.signals import GuestRaise
from analysis.interpreter.type_methods import of_type
from analysis.interpreter.values import (
    MISSING,
    Alternatives,
    Call,
    Class,
    ClassMethod,
    External,
    Function,
    Guarded,
    HostFunction,
    HostValue,
    Instance,
    Method,
    Module,
    Partial,
    Property,
    StaticMethod,
    Super,
    Symbol,
    Value,
)

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine
    from analysis.source import Span

_ON_OBJECTS = frozenset({"__setattr__", "__delattr__", "__getattribute__"})


def get(machine: Machine, value: Value, name: str, span: Span) -> Value:
    """``value.name``."""
    match value:
        case Instance():
            return _of_instance(machine, value, name, span)
        case HostValue():
            machine.domain.before_call(machine, span)
            return _of_host(machine, value, name, span)
        case Symbol():
            return value.parts[f".{name}"] if f".{name}" in value.parts else machine.domain.unknown_attribute(machine, value, name, span)
        case External():
            return imports.from_import(machine, value, name, span.path)
        case Module():
            return _of_module(machine, value, name, span)
        case Class():
            return _of_class(machine, value, name, span)
        case Alternatives(values=values):
            values = tuple(each for each in values if each is not None) or values  # whoever asks None for it does not come any further
            result = get(machine, values[0], name, span)
            for other in values[1:]:
                result = join(result, get(machine, other, name, span))
            return result
        case Super():
            return _of_super(machine, value, name, span)
        case Function() | Guarded() | Method() | HostFunction() | Partial():
            return _of_function(machine, value, name, span)
        case Property() if name in {"setter", "getter", "deleter"}:
            return accessor(value, name)
        case Generator():
            return value.attribute(name)
    return _of_host(machine, value, name, span)


def _of_host(machine: Machine, value: Value, name: str, span: Span) -> Value:
    if name.startswith("_") and not isinstance(value, HostValue):
        if name == "__class__":
            return type(value)
        if name == "__name__" and isinstance(value, type):
            return value.__name__
        return machine.domain.unknown_attribute(machine, value, name, span)
    try:
        return getattr(value, name)
    except Exception as error:  # noqa: BLE001  the guest's error or a gap of the domain: one place decides
        machine.refused = (value,)
        return machine.domain.host_failed(machine, f"{type(value).__name__}.{name}", error, span)


def bind(machine: Machine, found: Value, receiver: Value, owner: Class, span: Span) -> Value:
    """An attribute found on a class, as its instance sees it."""
    match found:
        case Function() | HostFunction() | Guarded():
            return Method(found, receiver)
        case Property(getter=getter):
            return machine.call(getter, [receiver], {}, span)
        case StaticMethod(function=function):
            return function
        case ClassMethod(function=function):
            return Method(function, owner)
        case Partial() if machine.domain.tracks_places:
            return found
    return found


def _of_instance(machine: Machine, value: Instance, name: str, span: Span) -> Value:
    found = _its_own(machine, value, name, span)
    if found is not MISSING:
        return found
    fallback = value.cls.find("__getattr__")
    if fallback is not MISSING:
        return _asked_for(machine, bind(machine, fallback, value, value.cls, span), name, span)
    return machine.domain.unknown_attribute(machine, value, name, span)


def _its_own(machine: Machine, value: Instance, name: str, span: Span) -> Value:
    """What an object has by that name without asking ``__getattr__``; MISSING: nothing."""
    found = value.cls.find(name)
    if isinstance(found, Property):
        return bind(machine, found, value, value.cls, span)
    if name in value.fields:
        return value.fields[name]
    if found is not MISSING:
        return bind(machine, found, value, value.cls, span)
    match name:
        case "__class__":
            return value.cls
        case "__dict__":
            return value.fields
    return Method(_inherited(name), value) if name in _ON_OBJECTS else MISSING


def _inherited(name: str) -> HostFunction:
    return HostFunction(name, _plainly) if name == "__getattribute__" else of_object(name)


def _plainly(call: Call) -> Value:
    """``object.__getattribute__``: raises AttributeError where the object and its classes, all of them followed, have nothing by that name."""
    value, name = call.args[0], call.args[1]
    if isinstance(value, Instance) and isinstance(name, str):
        found = _its_own(call.machine, value, name, call.span)
        if found is not MISSING:
            return found
        if all(isinstance(base, (Class, type)) for owner in value.cls.mro for base in owner.bases):
            raise guest_error(AttributeError(name), call.span)
    return call.machine.domain.unknown_attribute(call.machine, value, str(name), call.span)


def _asked_for(machine: Machine, fallback: Value, name: str, span: Span) -> Value:
    """What ``__getattr__`` gives; where nobody would catch that it has none, something that was not followed has set it."""
    try:
        return machine.call(fallback, [name], {}, span)
    except GuestRaise as error:
        if not dead_end(machine, error):
            raise
        return survived(machine, error, span)


def _of_module(machine: Machine, module: Module, name: str, span: Span) -> Value:
    found = module.vars.get(name, MISSING)
    if found is not MISSING:
        return found
    path = imports.submodule_path(machine, module, name)
    if path is not None:
        return machine.load(path, f"{module.name}.{name}")
    fallback = module.vars.get("__getattr__", MISSING)
    if fallback is not MISSING:
        return machine.call(fallback, [name], {}, span)
    if name == "__dict__":
        return module.vars
    return machine.domain.unknown_attribute(machine, External(module.name), name, span)


def _of_class(machine: Machine, cls: Class, name: str, span: Span) -> Value:
    found = cls.find(name)
    match found:
        case StaticMethod(function=function):
            return function
        case ClassMethod(function=function):
            return Method(function, cls)
    if found is not MISSING:
        return found
    match name:
        case "__setattr__" | "__delattr__" | "__getattribute__" | "__new__" | "__init__":
            return _inherited(name)
        case "__name__" | "__qualname__":
            return cls.name
        case "__module__":
            return cls.dotted.rpartition(".")[0]
        case "__mro__" | "__bases__":
            return cls.mro if name == "__mro__" else cls.bases
        case "__dict__":
            return {**cls.namespace}
        case "__members__":
            return dict(cls.metadata.get("members", {}))
    return machine.domain.unknown_attribute(machine, cls, name, span)


def _of_super(machine: Machine, value: Super, name: str, span: Span) -> Value:
    receiver = value.receiver
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    mro = cls.mro[cls.mro.index(value.owner) + 1 :] if value.owner in cls.mro else ()
    for owner in mro:
        if name in owner.namespace:
            return bind(machine, owner.namespace[name], receiver, cls, span)
    if name in _ON_OBJECTS or name == "__new__":
        return _inherited(name) if name == "__new__" else Method(_inherited(name), receiver)
    if name in {"__init__", "__init_subclass__", "__post_init__", "__enter__", "__exit__"}:
        return HostFunction(name, lambda _call: None)
    if not isinstance(receiver, Instance):
        return Symbol(f"super().{name}", span, machine.stamp)
    return machine.domain.unknown_attribute(machine, receiver, name, span)


def _of_function(machine: Machine, value: Value, name: str, span: Span) -> Value:
    inner = value
    while isinstance(inner, (Guarded, Method)):
        if name == "__self__" and isinstance(inner, Method):
            return inner.receiver
        inner = inner.function
    if isinstance(inner, Function):
        if name in inner.fields:
            return inner.fields[name]
        if name in {"__name__", "__qualname__"}:
            return inner.name if name == "__name__" else inner.qualname
        if name == "__module__":
            return inner.module.name
    if isinstance(inner, Partial):
        return {"func": inner.function, "args": inner.args, "keywords": dict(inner.kwargs)}.get(name)
    if name in {"__wrapped__", "__func__"}:
        return inner
    if name == "__doc__":
        return None
    method = of_type(inner, name)
    return machine.domain.unknown_attribute(machine, value, name, span) if method is MISSING else method


def set(machine: Machine, owner: Value, name: str, value: Value, span: Span) -> None:  # noqa: A001  the machine's verb: machine.setattr
    """``owner.name = value``."""
    if machine.domain.watches_stores and (isinstance(owner, Symbol) or isinstance(value, (HostValue, Instance, list, tuple, dict))):
        value = machine.domain.stored(machine, owner, name, value, span)
    match owner:
        case Instance():
            _set_on_instance(machine, owner, name, value, span)
        case Symbol():
            machine.heap.write(owner.parts, f".{name}", value)
        case Module():
            write(machine, owner.vars, name, value, span)
        case Class():
            machine.heap.write(owner.namespace, name, value)
        case Function():
            machine.heap.write(owner.fields, name, value)
        case Alternatives(values=values):
            for each in values:
                machine.fork(span, [partial(set, machine, each, name, value, span), lambda: None], machine.here)
        case HostValue():
            machine.domain.before_call(machine, span)
            try:
                setattr(owner, name, value)
            except Exception as error:  # noqa: BLE001  the guest's error or a gap of the domain: one place decides
                machine.domain.host_failed(machine, f"{type(owner).__name__}.{name}", error, span)
        case External(dotted=dotted):
            if isinstance(value, Function):
                machine.patched[f"{dotted}.{name}"] = value
        case _:
            machine.note(span, f"sets .{name} on something that was not followed")


def _set_on_instance(machine: Machine, owner: Instance, name: str, value: Value, span: Span) -> None:
    found = owner.cls.find(name)
    if isinstance(found, Property):
        if found.setter is not None:
            machine.call(found.setter, [owner, value], {}, span)
        return
    if name == "__dict__" and name_by_keys(owner, value):
        return
    custom = owner.cls.find("__setattr__")
    if custom is not MISSING:
        machine.call(custom, [owner, name, value], {}, span)
        return
    write(machine, owner.fields, name, value, span)


def delete(machine: Machine, owner: Value, name: str, span: Span) -> None:
    """``del owner.name``."""
    match owner:
        case Instance():
            custom = owner.cls.find("__delattr__")
            if custom is not MISSING:
                machine.call(custom, [owner, name], {}, span)
            else:
                machine.heap.delete(owner.fields, name)
        case Symbol():
            machine.heap.delete(owner.parts, f".{name}")
        case Module():
            machine.heap.delete(owner.vars, name)
        case HostValue():
            set(machine, owner, name, None, span)
