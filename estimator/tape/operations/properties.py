"""What a tensor says about itself."""

from __future__ import annotations

from typing import Any

from estimator.tape.filled import FILLED, Filled
from estimator.tape.registry import operation
from estimator.tape.run import current
from estimator.tape.tensor import Tensor


@operation(".size")
def size(x: Tensor, dim: int | None = None) -> Any:
    """Its shape, or one size of it."""
    return x.shape if dim is None else x.shape[dim]


@operation(".stride")
def stride(x: Tensor, dim: int | None = None) -> Any:
    """Its strides, or one of them."""
    return x.strides if dim is None else x.strides[dim]


@operation(".dim", ".ndimension")
def dim(x: Tensor) -> int:
    """How many dimensions it has."""
    return x.ndim


@operation("numel", ".numel", ".nelement")
def numel(x: Tensor) -> int:
    """The number of elements."""
    return x.shape.numel()


@operation(".element_size")
def element_size(x: Tensor) -> int:
    """Bytes of an element."""
    return x.itemsize


@operation(".storage_offset")
def storage_offset(x: Tensor) -> int:
    """Where it begins in its memory, in elements."""
    return x.offset


@operation(".is_floating_point", "is_floating_point")
def is_floating_point(x: Tensor) -> bool:
    """Whether it holds floating-point numbers."""
    return x.dtype.is_floating_point


@operation(".is_complex", "is_complex")
def is_complex(x: Tensor) -> bool:
    """Whether it holds complex numbers."""
    return x.dtype.is_complex


@operation(".get_device")
def get_device(x: Tensor) -> int:
    """The number of its GPU; -1 in host memory."""
    return (x.device.index or 0) if x.is_cuda else -1


@operation(".data_ptr")
def data_ptr(x: Tensor) -> int:
    """Tells storages apart."""
    return id(x.storage)


@operation(".item", ".__int__", ".__float__", ".__index__")
def item(x: Tensor) -> Any:
    """The number it holds, if it is known."""
    if x.values is not None and len(x.values) == 1:
        _say(x)
        return x.values[0]
    return current().number("a number read from a tensor")


def _say(x: Tensor) -> None:
    """A number that is read may be one that was taken in the open."""
    if isinstance(x.values, Filled):
        current().assume(FILLED)


@operation(".tolist")
def tolist(x: Tensor) -> Any:
    """The numbers it holds, if they are known."""
    if x.values is None or x.ndim > 1:
        return current().number("numbers read from a tensor")
    _say(x)
    return list(x.values) if x.ndim else x.values[0]
