"""What is given to a call that was not followed: tensors on the device, or parameters, which an optimizer takes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from types import GeneratorType
from typing import Any

from analysis.interpreter.iteration import ListItems
from analysis.interpreter.values import Value
from estimator.tape.tensor import Parameter, Tensor

#: How far down, and at how many values of a container in all, a tensor is looked for: a list that grows is given to a call each time it has grown.
_DEEP, _MOST_ITEMS = 3, 64


def holds_device_tensor(value: Any) -> bool:
    """Whether a value is, or holds, a tensor on the device; of a large container its first items tell."""
    return any(isinstance(item, Tensor) and item.device.counted for item in islice(_within(value, _DEEP), _MOST_ITEMS))


def _within(value: Any, depth: int) -> Iterator[Any]:
    """A value, and what it holds."""
    yield value
    if depth and isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _within(item, depth - 1)


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
