"""``getattr`` and ``hasattr`` of modules, whose parameters, buffers and children are kept by name in groups of their own."""

from __future__ import annotations

from analysis.interpreter.values import MISSING, Call, HostFunction, Instance, Value
from estimator.library.tokens import BUILTINS_HERE
from estimator.tape.attributes import is_module

_GROUPS = ("_parameters", "_buffers", "_modules")


def _has(value: Value, name: Value) -> bool | None:
    """Whether a module has an attribute of that name; None where the value is none, or its class answers for itself."""
    if not isinstance(value, Instance) or not isinstance(name, str) or not is_module(value):
        return None
    if name in value.fields or value.cls.find(name) is not MISSING or any(name in value.fields.get(group, ()) for group in _GROUPS):
        return True
    asks = next((cls for cls in value.cls.mro if "__getattr__" in cls.namespace), None)
    return False if asks is not None and asks.dotted.startswith("torch.nn.") else None


def _getattr(call: Call) -> Value:
    if call.given(2, "default") and _has(call.args[0], call.args[1]) is False:
        return call.args[2]
    return BUILTINS_HERE["getattr"].run(call)


def _hasattr(call: Call) -> Value:
    answer = _has(call.args[0], call.args[1])
    return BUILTINS_HERE["hasattr"].run(call) if answer is None else answer


#: Python's own, with these two.
BUILTINS: dict[str, Value] = {**BUILTINS_HERE, "getattr": HostFunction("getattr", _getattr), "hasattr": HostFunction("hasattr", _hasattr)}
