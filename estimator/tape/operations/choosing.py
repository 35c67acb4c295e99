"""Elements chosen by their values: only the device knows how many, at most all are.

A comparison for equality with one number picks few of many, as the tokens of one expert: all would be far too many, so that is not followed.
"""

from __future__ import annotations

from math import prod
from typing import Any

from estimator.tape.dtype import INT64, Category
from estimator.tape.not_followed import NotFollowed
from estimator.tape.registry import operation
from estimator.tape.run import current
from estimator.tape.shape import broadcast, contiguous_strides
from estimator.tape.tensor import Tensor, new

#: The assumption to be shown; what a run takes where next to nothing is chosen is the optimistic end of its interval.
ALL_CHOSEN = "how many elements a condition on values chooses is not known: all of them are taken"


def is_mask(x: Any) -> bool:
    """Whether an index is a Boolean mask, whose number of chosen elements the source does not tell."""
    return isinstance(x, Tensor) and x.dtype.category is Category.BOOL


def _at_most(x: Tensor) -> int:
    """How many elements of ``x`` are taken to be chosen. Raises NotFollowed where they are sure to be few."""
    if x.picks_few:
        raise NotFollowed("how many elements a mask chooses")
    tape = current()
    tape.assume(ALL_CHOSEN)
    return min(x.shape.numel(), 1) if tape.chooses_few else x.shape.numel()


@operation("nonzero", ".nonzero")
def nonzero(x: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of what is not zero: a row for each element, or a column for each dimension."""
    return columns_of(x) if as_tuple else new((_at_most(x), x.ndim), INT64, x.device)


def columns_of(x: Tensor) -> tuple[Tensor, ...]:
    """The indices of what is not zero, by dimension: views of one table."""
    count = _at_most(x)
    table = new((count, x.ndim), INT64, x.device)
    return tuple(table.view_of_storage((count,), (max(x.ndim, 1),), at) for at in range(x.ndim))


@operation("masked_select", ".masked_select")
def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """What a mask chooses, in one dimension."""
    shape = broadcast(x.shape, mask.shape)
    return _spread(x, shape)[columns_of(_spread(mask, shape))]


def _spread(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    if tuple(x.shape) == tuple(shape):
        return x
    spread: Tensor = x.expand(shape)
    return spread


@operation("unique", ".unique", "unique_consecutive", ".unique_consecutive")
def unique(x: Tensor, *_: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None, **__: Any) -> Any:
    """Different elements: all of them."""
    current().assume(ALL_CHOSEN)
    count = prod(x.shape) if dim is None else x.shape[dim]
    shape = (count,) if dim is None else tuple(x.shape)
    found = [new(shape, x.dtype, x.device, contiguous_strides(shape))]
    if return_inverse:
        found.append(new(tuple(x.shape) if dim is None else (count,), INT64, x.device))
    if return_counts:
        found.append(new((count,), INT64, x.device))
    return found[0] if len(found) == 1 else tuple(found)
