"""Numbers of tensors in what a program logs or decides by. Shared by rules, and no rule itself."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.interpreter.values import Symbol, Value
from analysis.library.tensor import Scalar, Tensor, tensors_in
from analysis.source import Span

_DEPTH, _WIDTH = 10, 200
#: How the host makes one number of those of many batches: a quotient, or a function such as ``numpy.mean``.
_MEANS = (("/",), ("number",))


def numbers_in(values: list[Value]) -> Iterator[Scalar | Tensor]:
    """The tensors in ``values``, and the numbers read from tensors that conditions and sums in them were made of."""
    return (number for number, _ in placed_in(values))


def placed_in(values: list[Value]) -> Iterator[tuple[Scalar | Tensor, Span | None]]:
    """The same, each with the place of the outermost mean that it went into on the host; its own, if there is none."""
    todo: list[tuple[Value, int, Span | None]] = [(value, _DEPTH, None) for value in values]
    seen: set[int] = set()
    while todo and len(seen) < _WIDTH:
        value, depth, mean = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case Scalar():
                yield value, mean or value.span
            case Symbol(test=test) if depth:
                mean = mean or (value.span if test[:1] in _MEANS else None)
                todo.extend((part, depth - 1, mean) for part in test[1:])
            case Tensor() | list() | tuple() | dict():
                yield from ((each, mean or each.span) for each in tensors_in(value))
                if depth and not isinstance(value, Tensor):
                    todo.extend((part, depth - 1, mean) for part in (value.values() if isinstance(value, dict) else value))
