"""Methods of Python's own types that are named by the type: ``str.isdigit(text)``, ``dict.fromkeys(names)``."""

from __future__ import annotations

from types import MethodType
from typing import Any

from analysis.interpreter.values import MISSING, Call, HostFunction, Value

_TYPES: dict[str, type[Any]] = {each.__name__: each for each in (str, bytes, int, float, list, tuple, dict, set, frozenset)}


def of_type(value: Value, name: str) -> Value:
    """The method ``name`` of the type that ``value`` is the built-in for; ``MISSING`` for anything else."""
    kind = _TYPES.get(value.name) if isinstance(value, HostFunction) else None
    found = getattr(kind, name, None) if kind is not None and not name.startswith("_") else None
    if found is None:
        return MISSING
    if isinstance(found, MethodType) or getattr(found, "__self__", None) is kind or name == "maketrans":
        return found

    def run(call: Call) -> Value:
        return call.machine.call(call.machine.getattr(call.args[0], name, call.span), call.args[1:], call.kwargs, call.span)

    return HostFunction(f"{value.name}.{name}", run)
