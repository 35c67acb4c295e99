"""``copy``: objects of the guest made again, tensors in memory of their own."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import Call, GuestDict, GuestList, GuestSet, HostFunction, Instance, Method, Partial, Value
from estimator.tape.copying import like
from estimator.tape.run import current
from estimator.tape.tensor import Parameter, Tensor


def _deepcopy(call: Call) -> Value:
    with current().gradients(enabled=False):
        return deep_copy(call.args[0], {})


def deep_copy(value: Any, made: dict[int, Any]) -> Any:
    """``copy.deepcopy``; ``made`` holds what was copied so far, by the identity of its original."""
    known = made.get(id(value))
    if known is not None:
        return known
    match value:
        case Tensor():
            result: Any = _tensor(value)
        case Instance():
            result = Instance(value.cls, value.span, value.stamp)
            made[id(value)] = result
            result.fields.update({name: deep_copy(item, made) for name, item in value.fields.items()})
        case dict():
            result = made[id(value)] = type(value)()
            _placed(value, result)
            result.update({key: deep_copy(item, made) for key, item in value.items()})
        case list():
            result = made[id(value)] = type(value)()
            _placed(value, result)
            result.extend(deep_copy(item, made) for item in value)
        case tuple():
            result = tuple(deep_copy(item, made) for item in value)
        case Method():
            result = Method(value.function, deep_copy(value.receiver, made))
        case Partial():
            kwargs = {name: deep_copy(item, made) for name, item in value.kwargs.items()}
            result = Partial(value.function, tuple(deep_copy(item, made) for item in value.args), kwargs)
        case _:
            return value
    made[id(value)] = result
    return result


def _placed(value: Any, result: Any) -> None:
    if isinstance(value, (GuestDict, GuestList, GuestSet)):
        result.span, result.stamp = value.span, value.stamp


def _tensor(value: Tensor) -> Tensor:
    copied = like(value)
    if isinstance(value, Parameter):
        return Parameter(copied, value.requires_grad)
    copied.values, copied.requires_grad = value.values, value.requires_grad
    return copied


def _copy(call: Call) -> Value:
    value = call.args[0]
    if isinstance(value, Instance):
        made = Instance(value.cls, value.span, value.stamp)
        made.fields.update(value.fields)
        return made
    return value.copy() if isinstance(value, (list, dict, set)) else value


NAMES: dict[str, Any] = {"copy.deepcopy": HostFunction("copy.deepcopy", _deepcopy), "copy.copy": HostFunction("copy.copy", _copy)}
