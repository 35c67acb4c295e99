"""A state to which everything that hangs on some objects can be taken back, as often as it is asked for.

What the top levels of modules leave is the same for each run that begins with the same imports: it is made once. All that can be
reached from the objects is kept as it is now: the items of each container, the attributes of each object. What came later is
let go by taking these back, so that no run sees what another one did.
"""

from __future__ import annotations

import ast
import enum
import re
from collections import deque
from dataclasses import dataclass
from functools import partial
from itertools import chain
from types import BuiltinFunctionType, CellType, CodeType, EllipsisType, FunctionType, MethodType, ModuleType, NoneType, NotImplementedType
from typing import Any

from analysis.certainty import Known, Unknown
from analysis.source import NotAnalysed, SourceFile, Span

#: Kinds that hold nothing that a run can change, and subclasses of them.
_LEAVES: tuple[type, ...] = (
    int, float, complex, str, bytes, NoneType, EllipsisType, NotImplementedType, type, range, enum.Enum, re.Pattern, ast.AST, CodeType, ModuleType,
    BuiltinFunctionType, Span, SourceFile, NotAnalysed, Known, Unknown,
)  # fmt: skip
_ABSENT: Any = object()


class CannotKeepError(TypeError):
    """Something is reached whose state cannot be read, as that of an iterator that has begun."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be kept of objects of one kind: their items, and attributes, by name. ``fixed``: nothing of them changes; only what they hold may."""

    items: bool = False
    attributes: tuple[str, ...] = ()
    fixed: bool = False


class Checkpoint:
    """The state of all that hangs on ``roots`` when it is made. Objects of the kinds ``leaves`` never change. Raises CannotKeepError."""

    def __init__(self, *roots: object, leaves: tuple[type, ...] = ()) -> None:
        self._contents: list[tuple[Any, Any]] = []
        self._attributes: list[tuple[object, tuple[str, ...], list[Any]]] = []
        self._keep(list(roots), leaves)

    def restore(self) -> None:
        """Take everything back to that state."""
        for container, content in self._contents:
            container.clear()
            (container.extend if isinstance(content, list) else container.update)(content)
        for owner, names, values in self._attributes:
            for name, value in zip(names, values, strict=True):
                if getattr(owner, name, _ABSENT) is not value:
                    _set(owner, name, value)

    def _keep(self, todo: list[Any], leaves: tuple[type, ...]) -> None:
        seen: dict[int, object] = {}  # keeps alive what the identities stand for
        plans: dict[type, _Plan | None] = {}
        while todo:
            value = todo.pop()
            kind = type(value)
            if kind not in plans:
                plans[kind] = _plan(kind, leaves)
            plan = plans[kind]
            if plan is None or id(value) in seen:
                continue
            seen[id(value)] = value
            if plan.items:
                todo.extend(_items(value))
                if not plan.fixed:
                    self._contents.append((value, dict(value) if isinstance(value, dict) else set(value) if isinstance(value, set) else list(value)))
            if plan.attributes:
                held = [getattr(value, name, _ABSENT) for name in plan.attributes]
                todo.extend(held)
                if not plan.fixed:
                    self._attributes.append((value, plan.attributes, held))
            own = getattr(value, "__dict__", None) if not isinstance(value, FunctionType) else None
            if own is not None:
                todo.append(own)


def _items(value: Any) -> list[Any]:
    return [*value.keys(), *value.values()] if isinstance(value, dict) else list(value)


def _set(owner: object, name: str, value: object) -> None:
    if value is _ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, value)


def _plan(kind: type, leaves: tuple[type, ...]) -> _Plan | None:
    """What to keep of objects of a kind; None: nothing hangs on them that could change."""
    if issubclass(kind, (*_LEAVES, *leaves)) or kind is object:
        return None
    if issubclass(kind, (FunctionType, MethodType, partial, CellType)):
        return _Plan(attributes=_OF_CALLABLES[next(known for known in _OF_CALLABLES if issubclass(kind, known))], fixed=kind is not CellType)
    if issubclass(kind, (tuple, frozenset)):
        return _Plan(items=True, fixed=True, attributes=() if issubclass(kind, tuple) and hasattr(kind, "_fields") else _slots(kind))
    if issubclass(kind, (dict, list, set, deque)):
        return _Plan(items=True, attributes=_slots(kind))
    if kind.__module__ in {"builtins", "itertools", "greenlet", "_greenlet"} or not (hasattr(kind, "__dict__") or _slots(kind)):
        raise CannotKeepError(f"what a {kind.__name__} has come to cannot be kept")
    parameters = getattr(kind, "__dataclass_params__", None)
    return _Plan(attributes=_slots(kind), fixed=bool(parameters and parameters.frozen))


#: Attributes of what can be called by which it holds objects.
_OF_CALLABLES: dict[type, tuple[str, ...]] = {
    FunctionType: ("__closure__", "__defaults__", "__kwdefaults__"),
    MethodType: ("__self__", "__func__"),
    partial: ("func", "args", "keywords"),
    CellType: ("cell_contents",),
}


def _slots(kind: type) -> tuple[str, ...]:
    """The names of all slots of a class and its bases."""
    named = (slots if isinstance(slots := base.__dict__.get("__slots__", ()), (tuple, list)) else (slots,) for base in kind.__mro__)
    return tuple(name for name in dict.fromkeys(chain.from_iterable(named)) if name not in {"__dict__", "__weakref__"})
