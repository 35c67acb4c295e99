"""Shapes and strides: broadcasting, views, and the memory layout of results.

Strides decide whether ``reshape`` and ``contiguous`` copy, so they are followed as ATen does
(``TensorIterator`` for element-wise results, ``computeStride`` for views).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import TypeAlias

from estimator.tape.not_followed import NotFollowed

Shape: TypeAlias = tuple[int, ...]


class Size(tuple[int, ...]):
    """``torch.Size``."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements."""
        return prod(self)


#: Layouts of shapes that were asked for last: a model has few different ones, asked for at every operation.
_REMEMBERED = 4096


def contiguous_strides(shape: Sequence[int]) -> Shape:
    """Row-major strides, in elements."""
    return _row_major(tuple(shape))


@lru_cache(_REMEMBERED)
def _row_major(shape: Shape) -> Shape:
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * max(shape[i + 1], 1)
    return tuple(strides)


def channels_last_strides(shape: Sequence[int]) -> Shape:
    """Strides with the channel dimension (1) fastest, for shapes of 3 to 5 dimensions."""
    order = (1, *range(len(shape) - 1, 1, -1), 0)
    return strides_in_order(shape, order)


def strides_in_order(shape: Sequence[int], order: Sequence[int]) -> Shape:
    """Dense strides whose fastest dimension comes first in ``order``."""
    strides = [1] * len(shape)
    step = 1
    for dim in order:
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


def is_laid_out(shape: Shape, strides: Shape, wanted: Shape) -> bool:
    """Whether strides equal the wanted ones wherever a dimension has more than one element."""
    return all(size == 1 or have == want for size, have, want in zip(shape, strides, wanted, strict=True)) or 0 in shape


@lru_cache(_REMEMBERED)
def is_contiguous(shape: Shape, strides: Shape) -> bool:
    """Whether the elements lie row-major without gaps."""
    return is_laid_out(shape, strides, contiguous_strides(shape))


def is_channels_last(shape: Shape, strides: Shape) -> bool:
    """Whether the elements lie channels-last (of four or five dimensions) and not row-major as well."""
    return len(shape) in {4, 5} and is_laid_out(shape, strides, channels_last_strides(shape)) and not is_contiguous(shape, strides)


@lru_cache(_REMEMBERED)
def is_dense(shape: Shape, strides: Shape) -> bool:
    """Whether the elements fill their extent without gaps or overlaps, in any order."""
    expected = 1
    for stride, size in sorted((stride, size) for stride, size in zip(strides, shape, strict=True) if size != 1):
        if stride != expected:
            return False
        expected *= size
    return True


def broadcast(*shapes: Sequence[int]) -> Shape:
    """The common shape of operands."""
    ndim = max(map(len, shapes))
    result = [1] * ndim
    for shape in shapes:
        for i, size in enumerate(shape, ndim - len(shape)):
            if size == result[i]:
                continue
            if result[i] == 1:
                result[i] = size
            elif size != 1:
                raise NotFollowed(f"shapes {', '.join(str(tuple(s)) for s in shapes)} do not broadcast")
    return tuple(result)


def expanded_strides(shape: Shape, strides: Shape, target: Sequence[int]) -> Shape:
    """Strides of a broadcast view: 0 where a dimension is repeated."""
    lead = len(target) - len(shape)
    own = tuple(0 if size == 1 != target[lead + i] else strides[i] for i, size in enumerate(shape))
    return (0,) * lead + own


def elementwise_strides(shape: Shape, operands: Sequence[tuple[Shape, Shape]]) -> Shape:
    """The layout of a new element-wise result from its operands' (shape, strides), as ``TensorIterator`` orders dimensions."""
    if all(is_contiguous(own, strides) and own == shape for own, strides in operands):
        return contiguous_strides(shape)
    if len(operands) == 1 and operands[0][0] == shape and is_dense(*operands[0]):
        return operands[0][1]
    views = [expanded_strides(own, strides, shape) for own, strides in operands]
    order = list(range(len(shape) - 1, -1, -1))
    for i in range(1, len(order)):
        at = i
        for j in range(i - 1, -1, -1):
            swap = _slower(order[j], order[at], shape, views)
            if swap > 0:
                order[j], order[at] = order[at], order[j]
                at = j
            elif swap < 0:
                break
    return strides_in_order(shape, order)


def _slower(left: int, right: int, shape: Shape, views: Sequence[Shape]) -> int:
    """Positive if dimension ``left`` must come after ``right``, negative if before, 0 if no operand tells."""
    for strides in views:
        a, b = strides[left], strides[right]
        if a == 0 or b == 0:
            continue
        if a != b:
            return 1 if a > b else -1
        if shape[left] > shape[right]:
            return 1
    return 0


def resolve_shape(wanted: Sequence[int], count: int) -> Shape:
    """A requested shape with its -1 worked out for ``count`` elements."""
    if -1 in wanted:
        known = prod(size for size in wanted if size != -1)
        if known == 0 or count % known:
            raise NotFollowed(f"shape {tuple(wanted)} for {count} elements")
        return tuple(count // known if size == -1 else size for size in wanted)
    if prod(wanted) != count:
        raise NotFollowed(f"shape {tuple(wanted)} for {count} elements")
    return tuple(wanted)


def view_strides(shape: Shape, strides: Shape, wanted: Shape) -> Shape | None:
    """Strides with which the same memory can be seen as ``wanted``; None if it takes a copy (ATen's ``computeStride``)."""
    if prod(shape) == 0:
        return contiguous_strides(wanted)
    if not shape:
        return (1,) * len(wanted)
    result = [0] * len(wanted)
    at = len(wanted) - 1
    base, have, seen = strides[-1], 1, 1
    for dim in range(len(shape) - 1, -1, -1):
        have *= shape[dim]
        if dim == 0 or (shape[dim - 1] != 1 and strides[dim - 1] != have * base):
            while at >= 0 and (seen < have or wanted[at] == 1):
                result[at] = seen * base
                seen *= wanted[at]
                at -= 1
            if seen != have:
                return None
            if dim > 0:
                base, have, seen = strides[dim - 1], 1, 1
    return tuple(result) if at == -1 else None


def dimension(dim: int, ndim: int) -> int:
    """A dimension index with negatives counted from the end."""
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise NotFollowed(f"dimension {dim} of a tensor with {ndim}")
    return dim % limit


def _number(size: object) -> object:
    """A size; of a tensor that holds one known number, that number."""
    held = getattr(size, "values", None)
    return held[0] if isinstance(held, tuple) and len(held) == 1 else size


def flatten_sizes(sizes: tuple[object, ...]) -> Shape:
    """``(2, 3)`` of ``f(2, 3)`` as of ``f((2, 3))``."""
    match sizes:
        case (list() | tuple() as only,):
            values: Sequence[object] = only
        case _:
            values = sizes
    values = [size if isinstance(size, int) else _number(size) for size in values]
    if not all(isinstance(size, int) for size in values):
        raise NotFollowed(f"a size that is not a number in {tuple(values)}")
    return tuple(int(size) for size in values if isinstance(size, int))
