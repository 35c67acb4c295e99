"""Built-ins that ask what a value is and has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.interpreter.signals import GuestRaise
from analysis.interpreter.values import (
    MISSING,
    Alternatives,
    Call,
    Class,
    External,
    Function,
    Guarded,
    GuestDict,
    HostFunction,
    HostValue,
    Instance,
    Method,
    Module,
    Partial,
    Super,
    Symbol,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

UNKNOWN = (Symbol, Alternatives, External)
#: Built-in functions that are also types, for ``isinstance``.
TYPES: dict[str, type] = {
    "list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "dict": dict, "int": int, "float": float, "str": str, "bool": bool,
    "bytes": bytes, "complex": complex, "range": range, "slice": slice, "type": type,
}  # fmt: skip
#: Kinds of guest values that have a name of their own in Python.
_KINDS: dict[str | None, tuple[type, ...]] = {
    "functools.partial": (Partial,), "types.FunctionType": (Function, Guarded), "types.LambdaType": (Function, Guarded), "types.MethodType": (Method,),
    "types.ModuleType": (Module,),
}  # fmt: skip
#: Types of which guest code makes subclasses that remember more.
_CONTAINERS = (list, dict, set)


def unknown(call: Call, *values: Value) -> Symbol:
    """The result of a built-in on values of which one is not known."""
    source = next((value for value in values if isinstance(value, Symbol)), None)
    stamp = source.stamp if source is not None else call.machine.stamp
    made = Symbol("the result of a built-in", call.span, stamp, rank_varying=any(getattr(value, "rank_varying", False) for value in values))
    made.source = source
    return made


def made(call: Call, container: Value) -> Value:
    """A container made here."""
    container.span, container.stamp = call.span, call.machine.stamp
    return container


def _isinstance(call: Call) -> Value:
    value, kinds = call.args[0], call.args[1]
    answers = [is_a(value, kind) for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
    if True in answers:
        return True
    if None not in answers:
        return False
    made = unknown(call, value)
    made.rank_varying = False  # values differ between ranks, their types do not
    return made


def is_a(value: Value, kind: Value) -> bool | None:
    """Whether ``value`` is of the class ``kind``; None if that cannot be told."""
    if isinstance(value, (Symbol, Alternatives)) or isinstance(kind, Symbol):
        return None
    if isinstance(kind, HostFunction):
        kind = TYPES.get(kind.name, kind)
    dotted = kind.dotted if isinstance(kind, (External, Class)) else kind.name if isinstance(kind, HostFunction) else None
    if isinstance(value, Instance):
        if isinstance(kind, Class):
            found = kind in value.cls.mro or value.cls.has_base(kind.dotted)
            return None if not found and value.assumed and kind.span is not None else found  # what stands for an argument may be of any class of the program
        if isinstance(kind, type):
            dotted = f"builtins.{kind.__name__}"
        return value.cls.has_base(dotted) if dotted is not None else False
    if isinstance(value, HostValue) and dotted is not None:
        return None if dotted in getattr(value, "possible_types", ()) else dotted in getattr(value, "guest_types", ())
    if kind is type and isinstance(value, External):
        return value.dotted.rpartition(".")[2][:1].isupper() or None  # a library's name: classes are written with a capital
    if isinstance(kind, type):
        return isinstance(value, (Class, type) if kind is type else kind)
    if dotted in _KINDS:
        return isinstance(value, _KINDS[dotted])
    if dotted in {"collections.abc.Callable", "typing.Callable"}:
        return isinstance(value, (Function, Method, Class, HostFunction))
    if dotted is not None and dotted.rpartition(".")[2] in {"Mapping", "Sequence", "Iterable", "OrderedDict"}:
        return isinstance(value, dict) if "apping" in dotted or "Dict" in dotted else isinstance(value, (list, tuple))
    return False


def is_type(kind: type, named: Value) -> bool:
    """Whether the host's type ``kind``, as ``type(x)`` gives it, is what the guest calls ``named``."""
    match named:
        case HostFunction(name=name):
            known = TYPES.get(name)
            return (kind is known or (known in _CONTAINERS and issubclass(kind, known))) if known is not None else name in _names_of(kind)
        case External(dotted=dotted) | Class(dotted=dotted):
            return dotted in _names_of(kind)
    return kind is named


def _names_of(kind: type) -> tuple[str, ...]:
    return getattr(kind, "guest_types", ()) if issubclass(kind, HostValue) else ()


def _getattr(call: Call) -> Value:
    value, name = call.args[0], call.args[1]
    if not isinstance(name, str):
        return unknown(call, value, name)
    if not call.given(2, "default"):
        return call.machine.getattr(value, name, call.span)
    if _has(value, name) is False:
        return call.args[2]
    call.machine.try_depth += 1
    try:
        return call.machine.getattr(value, name, call.span)
    except GuestRaise:
        return call.args[2]
    finally:
        call.machine.try_depth -= 1


def _has(value: Value, name: str) -> bool | None:
    match value:
        case Instance():
            if name in value.fields or value.cls.find(name) is not MISSING:
                return True
            followed = all(isinstance(base, (Class, type)) for owner in value.cls.mro for base in owner.bases)
            return False if followed and value.cls.find("__getattr__") is MISSING else None
        case Module():
            return name in value.vars
        case Class():
            return value.find(name) is not MISSING
        case Symbol() | Alternatives():
            return True if f".{name}" in getattr(value, "parts", {}) else None
        case External():
            return True
        case Function():
            return name in value.fields or name.startswith("__")
    return hasattr(value, name)


def _hasattr(call: Call) -> Value:
    answer = _has(call.args[0], call.args[1]) if isinstance(call.args[1], str) else None
    if answer is None:
        value = call.args[0]
        return value.part(f"hasattr {call.args[1]}") if isinstance(value, Symbol) else unknown(call)
    return answer


def _setattr(call: Call) -> Value:
    target, name, value = call.args
    if isinstance(name, str):
        call.machine.setattr(target, name, value, call.span)
    elif call.machine.domain.watches_stores and isinstance(target, (Instance, Class)):
        call.machine.domain.stored(call.machine, target, name, value, call.span)  # to an attribute whose name is not told


def _delattr(call: Call) -> Value:
    if isinstance(call.args[1], str):
        call.machine.delattr(call.args[0], call.args[1], call.span)


def _type(call: Call) -> Value:
    match call.args:
        case [name, tuple() as bases, dict() as namespace]:
            return call.machine.define(name if isinstance(name, str) else "made", bases, namespace, call.span)
    value = call.args[0]
    return value.cls if isinstance(value, Instance) else unknown(call, value) if isinstance(value, UNKNOWN) else type(value)


def _super(call: Call) -> Value:
    return Super(call.args[0], call.args[1]) if call.given(1, "object") and isinstance(call.args[0], Class) else unknown(call)


def _callable(call: Call) -> Value:
    value = call.args[0]
    if isinstance(value, UNKNOWN):
        return unknown(call, value)
    return isinstance(value, (Function, Method, Class, HostFunction)) or (isinstance(value, Instance) and value.cls.find("__call__") is not MISSING)


def _vars(call: Call) -> Value:
    value = call.args[0] if call.args else call.machine.frame
    return value.fields if isinstance(value, Instance) else getattr(value, "vars", unknown(call))


def _globals(call: Call) -> Value:
    return call.machine.frame.module.vars if call.machine.frame is not None else {}


def _locals(call: Call) -> Value:
    return made(call, GuestDict(call.machine.frame.vars)) if call.machine.frame is not None else {}


def _issubclass(call: Call) -> Value:
    cls, kind = call.args[0], call.args[1]
    if isinstance(cls, Class) and isinstance(kind, (Class, External)):
        return cls.has_base(kind.dotted) or kind in cls.mro
    return unknown(call)


FUNCTIONS: dict[str, Callable[[Call], Value]] = {
    "isinstance": _isinstance, "issubclass": _issubclass, "getattr": _getattr, "hasattr": _hasattr, "setattr": _setattr, "delattr": _delattr,
    "type": _type, "super": _super, "callable": _callable, "vars": _vars, "globals": _globals, "locals": _locals,
}  # fmt: skip
