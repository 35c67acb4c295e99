"""Attributes and items: how a name or an index on a value is found, and written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from analysis.interpreter import imports
from analysis.interpreter.exceptions import dead_end, survived
from analysis.interpreter.generators import Generator
from analysis.interpreter.joins import join
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

_CALLABLES = (Function, HostFunction, Guarded)


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
            return _accessor(value, name)
        case Generator():
            return value.attribute(name)
    return _of_host(machine, value, name, span)


def _accessor(prop: Property, kind: str) -> HostFunction:
    return HostFunction(kind, lambda call: Property(prop.getter, call.args[0]) if kind == "setter" else prop)


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
    fallback = value.cls.find("__getattr__")
    if fallback is not MISSING:
        return _asked_for(machine, bind(machine, fallback, value, value.cls, span), name, span)
    return machine.domain.unknown_attribute(machine, value, name, span)


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
        case "__setattr__" | "__delattr__" | "__new__" | "__init__":
            return _of_object(name)
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


def _of_object(name: str) -> HostFunction:
    """What every class inherits: the plain ways to make and to write an object."""

    def run(call: Call) -> Value:
        match name:
            case "__setattr__":
                write(call.machine, call.args[0].fields, call.args[1], call.args[2], call.span)
            case "__delattr__":
                call.machine.heap.delete(call.args[0].fields, call.args[1])
            case "__new__":
                return call.machine.instance(call.args[0], call.span)
        return None

    return HostFunction(f"object.{name}", run)


def _of_super(machine: Machine, value: Super, name: str, span: Span) -> Value:
    receiver = value.receiver
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    mro = cls.mro[cls.mro.index(value.owner) + 1 :] if value.owner in cls.mro else ()
    for owner in mro:
        if name in owner.namespace:
            return bind(machine, owner.namespace[name], receiver, cls, span)
    if name in {"__setattr__", "__delattr__", "__new__"}:
        inherited = _of_object(name)
        return inherited if name == "__new__" else Method(inherited, receiver)
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
    custom = owner.cls.find("__setattr__")
    if custom is not MISSING:
        machine.call(custom, [owner, name, value], {}, span)
        return
    write(machine, owner.fields, name, value, span)


def write(machine: Machine, cells: dict[Value, Value], name: str, value: Value, span: Span) -> None:
    """Write a cell and note where."""
    if machine.domain.tracks_places:
        machine.places[(id(cells), name)] = span
    machine.heap.write(cells, name, value)


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
