"""What is given to a call that was not followed: tensors on the device, or parameters, which an optimizer takes."""

from __future__ import annotations

from types import GeneratorType
from typing import Any

from analysis.interpreter.iteration import ListItems
from analysis.interpreter.values import Value
from estimator.tape.tensor import Parameter, Tensor


def holds_device_tensor(value: Any, depth: int = 3) -> bool:
    """Whether a value is, or holds, a tensor on the device."""
    if isinstance(value, Tensor):
        return value.device.counted
    if depth and isinstance(value, (list, tuple, dict)):
        return any(holds_device_tensor(item, depth - 1) for item in (value.values() if isinstance(value, dict) else value))
    return False


def hands_out_parameters(value: Value) -> bool:
    """Whether a value is what ``model.parameters()`` gives: whoever takes it may keep copies."""
    if isinstance(value, ListItems):
        return any(isinstance(item, Parameter) for item in value.items[value.index : value.index + 1])
    return isinstance(value, GeneratorType) and isinstance(next(value, None), Parameter)


def holds_parameters(value: Value) -> bool:
    """Whether a value is what an optimizer is given: parameters, or groups of them."""
    match value:
        case Parameter():
            return True
        case list() | tuple():
            return any(holds_parameters(item) for item in value[:1])
        case dict():
            return holds_parameters(value.get("params"))
    return hands_out_parameters(value)
