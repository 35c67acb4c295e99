"""Comparisons, logic and choices between two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from estimator.tape.dtype import BOOL, Category
from estimator.tape.graph import Node, record, tracked
from estimator.tape.inplace import overwritten
from estimator.tape.operations.choosing import columns_of
from estimator.tape.operations.pointwise import combined, result_dtype
from estimator.tape.registry import operation
from estimator.tape.tensor import Tensor


@operation("eq", ".eq", ".__eq__", "isclose")
def equals(x: Tensor, other: Any, **_: Any) -> Any:
    """A Boolean for each pair of elements; one number picks few of many whole ones."""
    found = compare(x, other)
    if found is not NotImplemented:
        found.picks_few = x.dtype.category is Category.INTEGER and not isinstance(other, (Tensor, bool))
    return found


@operation(
    "ne", "lt", "le", "gt", "ge", ".ne", ".lt", ".le", ".gt", ".ge",
    ".__ne__", ".__lt__", ".__le__", ".__gt__", ".__ge__",
    "logical_and", "logical_or", "logical_xor", ".logical_and", ".logical_or", ".logical_xor",
)  # fmt: skip
def compare(x: Tensor, other: Any, **_: Any) -> Any:
    """A Boolean for each pair of elements. A tensor is not equal to ``None`` or to something that is no number."""
    if not isinstance(other, (Tensor, bool, int, float, complex)):
        return NotImplemented
    return combined((x, other), BOOL)


@operation(".__and__", ".__or__", ".__xor__", ".__rand__", ".__ror__", "bitwise_and", "bitwise_or", "bitwise_xor", ".__lshift__", ".__rshift__")
def bitwise(x: Tensor, other: Any) -> Tensor:
    """Bits combined."""
    found = combined((x, other), result_dtype(x, other))
    found.picks_few = x.picks_few or getattr(other, "picks_few", False)
    return found


@operation(".__iand__", ".__ior__", ".__ixor__", ".logical_and_", ".logical_or_", ".logical_not_")
def bitwise_(x: Tensor, *_: Any) -> Tensor:
    """Bits combined in place."""
    return x


@operation("equal", "allclose", ".equal", ".allclose")
def equal(x: Tensor, _other: Tensor, **_: Any) -> Any:
    """One Boolean that the device decides."""
    return combined((x,), BOOL).item()


@operation("where", ".where")
def where(condition: Tensor, x: Any = None, other: Any = None) -> Any:
    """Elements of either; keeps the condition. With the condition alone, the indices where it holds."""
    if not isinstance(condition, Tensor):
        raise TypeError("where() of a condition that is no tensor")
    if x is None and other is None:
        return columns_of(condition)
    if isinstance(x, Tensor) and condition.dtype != BOOL and x.dtype == BOOL:
        condition, x = x, condition  # as a method, the condition comes second
    node = record((None, x if isinstance(x, Tensor) else None, other if isinstance(other, Tensor) else None), _where_back, (condition,))
    result = combined((condition, x, other), result_dtype(x, other))
    tracked(node, result)
    return result


@operation("masked_fill", ".masked_fill")
def masked_fill(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``x`` with ``value`` where ``mask`` is; keeps the mask."""
    node = record((x,), _masked_back, (mask,))
    result = combined((x, mask), x.dtype)
    tracked(node, result)
    return result


@operation(".masked_fill_")
def masked_fill_(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``value`` written where ``mask`` is."""
    return overwritten(x, record((x,), _masked_back, (mask,)))


def _where_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = gradients[0]
    if gradient is None:
        return (None, None, None)
    results = [combined((gradient, *node.unpack()), gradient.dtype) if node.needs(i) else None for i in (2, 1)]
    return (None, *reversed(results))


def _masked_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = gradients[0]
    return (None if gradient is None else combined((gradient, *node.unpack()), gradient.dtype),)
