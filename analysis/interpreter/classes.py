"""Classes: what a class statement makes, and what calling a class does."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from analysis.interpreter.containers import BASES
from analysis.interpreter.frames import Exit, Frame
from analysis.interpreter.values import MISSING, Class, ClassMethod, External, Function, HostFunction, Instance, Property, StaticMethod, Symbol, Value

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine
    from analysis.source import Span

_ENUMS = {"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"}
#: Bases with which the members of an enumeration are values of their own kind too.
_MIXED = {"str", "int", "float", "enum.StrEnum", "enum.IntEnum", "enum.IntFlag"}


def define(machine: Machine, node: ast.ClassDef, frame: Frame) -> Exit | None:
    """A class statement."""
    span = frame.file.span(node)
    bases = tuple(_base(machine, base, frame) for base in node.bases if not isinstance(base, ast.Starred))
    qualname = f"{frame.qualname}.{node.name}" if frame.qualname else node.name
    namespace: dict[str, Value] = {}
    cls = Class(node.name, f"{frame.module.name}.{qualname}", bases, namespace, span)
    body = Frame(frame.module, namespace, {}, None, frame.function, cls, frame if frame.function is not None else None, qualname, machine.stamp)
    before, machine.frame = machine.frame, body
    machine.execute(node.body, body)
    machine.frame = before
    if _is_enum(cls):
        _make_members(machine, cls)
    result = decorated(machine, node, cls, frame)
    machine.assign(ast.copy_location(ast.Name(node.name, ast.Store()), node), result, frame)
    keywords = {keyword.arg: machine.evaluate(keyword.value, frame) for keyword in node.keywords if keyword.arg and keyword.arg != "metaclass"}
    _announce(machine, cls, keywords, span)
    return None


def _announce(machine: Machine, cls: Class, keywords: dict[str, Value], span: Span) -> None:
    """Tell the bases that they were inherited from."""
    hook = next((owner.namespace["__init_subclass__"] for owner in cls.mro[1:] if "__init_subclass__" in owner.namespace), None)
    if isinstance(hook, (Function, HostFunction)):
        machine.call(hook, [cls], keywords, span)


def define_by_call(machine: Machine, name: str, bases: tuple[Value, ...], namespace: dict[str, Value], span: Span) -> Class:
    """``type(name, bases, namespace)``."""
    found = [machine.domain.lookup(base.dotted) if isinstance(base, External) else base for base in bases]
    known = tuple(base if value is MISSING else value for base, value in zip(bases, found, strict=True))
    module = machine.frame.module.name if machine.frame is not None else ""
    cls = Class(name, f"{module}.{name}", known, {**namespace}, span)
    _announce(machine, cls, {}, span)
    return cls


def decorated(machine: Machine, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, value: Value, frame: Frame) -> Value:
    """What the decorators of ``node`` make of its value. One that is not followed is taken to give what it was given: it registers or wraps it.

    Where numbers are at stake, and a domain watches values and not what is stored, what it makes of a method stays unknown.
    """
    opaque = frame.owner is not None and not machine.domain.watches_stores
    for decorator in reversed(node.decorator_list):
        result = machine.call(machine.evaluate(decorator, frame), [value], {}, frame.file.span(decorator))
        value = value if isinstance(result, Symbol) and not opaque else result
    return value


def _base(machine: Machine, node: ast.expr, frame: Frame) -> Value:
    value = machine.evaluate(node, frame)
    dotted = value.name if isinstance(value, HostFunction) else value.dotted if isinstance(value, External) else ""
    package, _, name = dotted.rpartition(".")
    if name in BASES and package in {"", "collections", "builtins", "typing"}:
        return BASES[name]
    if isinstance(value, External):
        found = machine.domain.lookup(value.dotted)
        return value if found is MISSING else found
    return value


def _is_enum(cls: Class) -> bool:
    return any(isinstance(base, External) and base.dotted in _ENUMS for owner in cls.mro for base in owner.bases)


def _make_members(machine: Machine, cls: Class) -> None:
    members: dict[str, Value] = {}
    for name, value in list(cls.namespace.items()):
        if name.startswith("_") or isinstance(value, (Function, HostFunction, Property, StaticMethod, ClassMethod)):
            continue
        member = Instance(cls, cls.span, machine.stamp)
        member.fields.update({"value": value, "name": name, "_value_": value})
        members[name] = member
        cls.namespace[name] = member
        init = cls.find("__init__")
        if isinstance(init, Function):
            machine.call(init, [member, *(value if isinstance(value, tuple) else (value,))], {}, cls.span or machine.span)
    cls.metadata["members"] = members


def member_name(value: Value) -> str:
    """The name of a member of an enumeration with its class's; "" for any other value."""
    return f"{value.cls.dotted}.{value.fields['name']}" if isinstance(value, Instance) and "members" in value.cls.metadata else ""


def plain_member(value: Value, other: Value) -> Value:
    """A member of an enumeration that is text or a number as well, where it meets one; else the value itself."""
    if isinstance(other, (str, int, float)) and member_name(value) and _is_mixed(value.cls):
        return value.fields["value"]
    return value


def is_record(cls: Class) -> bool:
    """Whether a library gave the class, or one that it is built on, a constructor for its annotated fields."""
    return any("fields" in owner.metadata for owner in cls.mro)


def _is_mixed(cls: Class) -> bool:
    bases = (base for owner in cls.mro for base in owner.bases)
    return any(getattr(base, "name", "") in _MIXED or getattr(base, "dotted", "") in _MIXED for base in bases)


def construct(machine: Machine, cls: Class, args: list[Value], kwargs: dict[str, Value], span: Span) -> Value:
    """Call a class: ``__new__`` of a library decides alone; else a new instance goes through ``__init__``."""
    if "members" in cls.metadata:
        return _member(machine, cls, args, span)
    new = cls.find("__new__")
    if isinstance(new, HostFunction):
        return machine.call(new, [cls, *args], kwargs, span)
    if isinstance(new, Function):
        made = machine.call(new, [cls, *args], dict(kwargs), span)
        if not (isinstance(made, Instance) and cls in made.cls.mro):
            return made
        instance = made
    else:
        instance = Instance(cls, span, machine.stamp)
    init = cls.find("__init__")
    if init is MISSING:
        if args:
            instance.fields["args"] = tuple(args)
        return instance
    args.insert(0, instance)
    machine.call(init, args, kwargs, span)
    return instance


def _member(machine: Machine, cls: Class, args: list[Value], span: Span) -> Value:
    for member in cls.metadata["members"].values():
        if args and not isinstance(args[0], Symbol) and member.fields["value"] == args[0]:
            return member
    return Symbol(f"a member of {cls.name}", span, machine.stamp)
