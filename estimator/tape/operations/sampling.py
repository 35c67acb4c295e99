"""Random choices, places in sorted numbers, counts and index grids: results whose shape is known and that pass no gradient."""

from __future__ import annotations

from itertools import chain, product
from math import prod
from typing import Any

from estimator.tape.copying import like
from estimator.tape.device import DeviceLike, as_device
from estimator.tape.dtype import BOOL, INT64, Dtype
from estimator.tape.not_followed import NotFollowed
from estimator.tape.registry import operation
from estimator.tape.run import current
from estimator.tape.shape import flatten_sizes
from estimator.tape.tensor import Tensor, new

#: Numbers of a grid that are kept: positions in a picture of 128 × 128 places, by four coordinates.
_MOST_PLACES = 1 << 16


@operation("multinomial", ".multinomial")
def multinomial(input: Tensor, num_samples: int, *_: Any, **__: Any) -> Tensor:
    """``num_samples`` indices for each row of weights."""
    return new((*input.shape[:-1], num_samples), INT64, input.device)


@operation("bernoulli", ".bernoulli", "poisson")
def bernoulli(input: Tensor, *_: Any, **__: Any) -> Tensor:
    """A random number for each element."""
    return like(input)


@operation("normal")
def normal(mean: Any, std: Any = 1.0, size: Any = None, *, dtype: Dtype | None = None, device: DeviceLike | None = None, **_: Any) -> Tensor:
    """Random numbers around a tensor of means, or of a given size."""
    if isinstance(mean, Tensor):
        return like(mean)
    if isinstance(std, Tensor):
        return like(std)
    tape = current()
    return new(flatten_sizes((size,)), dtype or tape.default_dtype, as_device(device or tape.default_device))


@operation("searchsorted", "bucketize")
def searchsorted(first: Tensor, second: Any, *_: Any, **__: Any) -> Tensor:
    """A place for each value; the values come second in one function and first in the other, the sorted numbers are a vector."""
    values = second if isinstance(second, Tensor) and (second.ndim > 1 or first.ndim == 1) else first
    return new(values.shape, INT64, first.device)


@operation("isin")
def isin(elements: Tensor, *_: Any, **__: Any) -> Tensor:
    """Whether each element is among others."""
    return like(elements, BOOL)


@operation("histc", "bincount", ".bincount")
def histc(input: Tensor, bins: Any = 100, *_: Any, minlength: int | None = None, **__: Any) -> Tensor:
    """Counts in bins."""
    if minlength is None and not isinstance(bins, int):
        raise NotFollowed("how many bins there are")
    return new((bins if minlength is None else minlength,), input.dtype, input.device)


@operation("tril_indices")
def tril_indices(row: int, col: int, offset: int = 0, *, device: DeviceLike | None = None, **_: Any) -> Tensor:
    """Rows and columns of the lower triangle."""
    count = sum(max(0, min(col, i + offset + 1)) for i in range(row))
    return new((2, count), INT64, as_device(device or current().default_device))


@operation("triu_indices")
def triu_indices(row: int, col: int, offset: int = 0, *, device: DeviceLike | None = None, **_: Any) -> Tensor:
    """Rows and columns of the upper triangle."""
    count = sum(max(0, min(col, col - i - offset)) for i in range(row))
    return new((2, count), INT64, as_device(device or current().default_device))


@operation("cartesian_prod")
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations."""
    shape = (prod(x.numel() for x in tensors), len(tensors)) if len(tensors) > 1 else tensors[0].shape
    result = new(shape, tensors[0].dtype, tensors[0].device)
    known = [x.values for x in tensors if x.values is not None]
    if len(known) == len(tensors) and result.numel() <= _MOST_PLACES:
        result.values = tuple(chain.from_iterable(product(*known)))
    return result


@operation("logspace")
def logspace(start: float, end: float, steps: int, *_: Any, dtype: Dtype | None = None, device: DeviceLike | None = None, **__: Any) -> Tensor:
    """``steps`` numbers on a logarithmic scale."""
    tape = current()
    return new((steps,), dtype or tape.default_dtype, as_device(device or tape.default_device))
