"""Numbers of tensors in what a program logs or decides by. Shared by rules, and no rule itself."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.interpreter.values import Symbol, Value
from analysis.library.tensor import Scalar, Tensor, tensors_in

_DEPTH, _WIDTH = 10, 200


def numbers_in(values: list[Value]) -> Iterator[Scalar | Tensor]:
    """The tensors in ``values``, and the numbers read from tensors that conditions and sums in them were made of."""
    todo: list[tuple[Value, int]] = [(value, _DEPTH) for value in values]
    seen: set[int] = set()
    while todo and len(seen) < _WIDTH:
        value, depth = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case Scalar():
                yield value
            case Symbol(test=test) if depth:
                todo.extend((part, depth - 1) for part in test[1:])
            case Tensor() | list() | tuple() | dict():
                yield from tensors_in(value)
                if depth and not isinstance(value, Tensor):
                    todo.extend((part, depth - 1) for part in (value.values() if isinstance(value, dict) else value))
