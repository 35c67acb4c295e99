"""New tensors: filled, random, ranges, from numbers, and in the likeness of others."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

from estimator.tape.copying import same_layout
from estimator.tape.device import CPU, Device, DeviceLike, as_device
from estimator.tape.dtype import BOOL, FLOAT32, INT64, Category, Dtype, as_dtype, category_of
from estimator.tape.not_followed import NotFollowed
from estimator.tape.registry import operation
from estimator.tape.run import current
from estimator.tape.shape import Shape, flatten_sizes
from estimator.tape.tensor import Tensor, new

#: Host tensors of at most so many known numbers keep them.
_KEPT_VALUES = 4096
#: Types of Python's own numbers.
_PLAIN = frozenset({bool, int, float, complex})


def _made(shape: Shape, dtype: Dtype | None, device: DeviceLike | None, requires_grad: bool = False) -> Tensor:
    tape = current()
    result = new(shape, as_dtype(dtype) or tape.default_dtype, tape.default_device if device is None else as_device(device))
    result.requires_grad = requires_grad
    return result


@operation("empty", "zeros", "ones", "randn", "rand")
def empty(*size: Any, dtype: Dtype | None = None, device: DeviceLike | None = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """A tensor of the given sizes."""
    sizes = (_.pop("size"),) if "size" in _ else size
    return _made(flatten_sizes(sizes), dtype, device, requires_grad)


@operation("full")
def full(size: Any, fill_value: Any, *, dtype: Dtype | None = None, device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of one number, in the dtype of that number."""
    if dtype is None:
        dtype = _dtype_of(fill_value)
    result = _made(flatten_sizes((size,)), dtype, device, requires_grad)
    if not result.device.counted and result.shape.numel() <= _KEPT_VALUES and not isinstance(fill_value, Tensor):
        result.values = (fill_value,) * result.shape.numel()
    return result


@operation("empty_strided")
def empty_strided(size: Any, stride: Any, *, dtype: Dtype | None = None, device: DeviceLike | None = None, **_: Any) -> Tensor:
    """A tensor of the given sizes and strides."""
    tape = current()
    return new(flatten_sizes((size,)), dtype or tape.default_dtype, as_device(device or tape.default_device), flatten_sizes((stride,)))


@operation("empty_like", "zeros_like", "ones_like", "rand_like", "randn_like")
def like(x: Tensor, *, dtype: Dtype | None = None, device: DeviceLike | None = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """A tensor in the likeness of another."""
    result = new(x.shape, as_dtype(dtype) or x.dtype, as_device(device or x.device), same_layout(x))
    result.requires_grad = requires_grad
    return result


@operation("full_like", "randint_like")
def full_like(x: Tensor, *_numbers: Any, dtype: Dtype | None = None, device: DeviceLike | None = None, **_: Any) -> Tensor:
    """A tensor in the likeness of another, of one number."""
    return like(x, dtype=dtype, device=device)


@operation(".new_empty", ".new_zeros", ".new_ones")
def new_filled(x: Tensor, *size: Any, dtype: Dtype | None = None, device: DeviceLike | None = None, **_: Any) -> Tensor:
    """A tensor of the given sizes, of the kind of another."""
    return new(flatten_sizes(size), dtype or x.dtype, as_device(device or x.device))


@operation(".new_full")
def new_full(x: Tensor, size: Any, _fill_value: Any, *, dtype: Dtype | None = None, device: DeviceLike | None = None, **_: Any) -> Tensor:
    """A tensor of one number, of the kind of another."""
    return new(flatten_sizes((size,)), dtype or x.dtype, as_device(device or x.device))


@operation("randint")
def randint(*bounds: Any, size: Any = None, dtype: Dtype | None = None, device: DeviceLike | None = None, **_: Any) -> Tensor:
    """Random integers: ``randint([low,] high, size)``."""
    shape = bounds[-1] if size is None else size
    return _made(flatten_sizes((shape,)), dtype or INT64, device)


@operation("randperm")
def randperm(n: int, *, dtype: Dtype | None = None, device: DeviceLike | None = None, **_: Any) -> Tensor:
    """A random permutation."""
    return _made((n,), dtype or INT64, device)


@operation("arange")
def arange(*bounds: Any, start: Any = 0, end: Any = None, step: Any = 1, dtype: Dtype | None = None, device: DeviceLike | None = None, **_: Any) -> Tensor:
    """Numbers from ``start`` to ``end``."""
    match bounds:
        case (only,):
            start, end = (0, only) if end is None else (only, end)
        case (first, last):
            start, end = first, last
        case (first, last, width):
            start, end, step = first, last, width
    if not all(isinstance(bound, (int, float)) for bound in (start, end, step)):
        raise NotFollowed("torch.arange of unknown bounds")
    integers = all(isinstance(bound, int) for bound in (start, end, step))
    count = max(0, ceil((end - start) / step))
    result = _made((count,), dtype or (INT64 if integers else None), device)
    if count <= _KEPT_VALUES and not result.device.counted:
        result.values = tuple(start + i * step for i in range(count))
    return result


@operation("linspace")
def linspace(start: float, end: float, steps: int, *, dtype: Dtype | None = None, device: DeviceLike | None = None, **_: Any) -> Tensor:
    """``steps`` numbers evenly from ``start`` to ``end``, both included."""
    result = _made((steps,), dtype, device)
    if steps <= _KEPT_VALUES and not result.device.counted:
        width = (end - start) / (steps - 1) if steps > 1 else 0
        result.values = tuple(start + i * width for i in range(steps))
    return result


@operation("eye")
def eye(n: int, m: int | None = None, *, dtype: Dtype | None = None, device: DeviceLike | None = None, **_: Any) -> Tensor:
    """The identity matrix."""
    return _made((n, m or n), dtype, device)


@operation("tensor", "as_tensor", "asarray")
def tensor(data: Any, *, dtype: Dtype | None = None, device: DeviceLike | None = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """A tensor of known numbers (nested sequences of them)."""
    if isinstance(data, Tensor):
        result: Tensor = data.to(device=as_device(device or data.device), dtype=dtype or data.dtype)
        return result
    types = set(map(type, data)) if isinstance(data, (list, tuple)) else set()
    plain = bool(types) and types <= _PLAIN
    shape, numbers = ((len(data),), data) if plain else _numbers(data)
    told = numbers if plain else [number for number in numbers if not _is_untold(number)]
    if dtype is None:
        kinds = [kind() for kind in types] if plain else told  # a zero of each
        dtype = _dtype_of(max(kinds, key=_category)) if told else FLOAT32
    result = _made(shape, dtype, device, requires_grad)
    if not result.device.counted and len(told) == len(numbers) <= _KEPT_VALUES and not any(isinstance(number, Tensor) for number in numbers):
        result.values = tuple(numbers)
    return result


def are_plain(row: Sequence[Any]) -> bool:
    """Whether a row holds Python's own numbers alone: there may be a million."""
    return _PLAIN.issuperset(map(type, row))


def _numbers(data: Any) -> tuple[Shape, list[Any]]:
    """Shape and numbers of nested sequences."""
    if isinstance(data, (bool, int, float, complex)) or _is_untold(data):
        return (), [data]
    if isinstance(data, Tensor):
        return data.shape, [data] * data.shape.numel() if data.values is None else list(data.values)
    if not isinstance(data, (list, tuple)):
        raise NotFollowed(f"torch.tensor of a {type(data).__name__}")
    if are_plain(data):
        return (len(data),), list(data)
    rows = [_numbers(item) for item in data]
    return ((len(rows), *rows[0][0]) if rows else (0,)), [number for _, row in rows for number in row]


def _is_untold(value: Any) -> bool:
    """Whether a value stands for a number that nobody knows."""
    return getattr(value, "stands_for_a_number", False) is True


def _category(number: Any) -> Category:
    return number.dtype.category if isinstance(number, Tensor) else category_of(number)


def _dtype_of(number: Any) -> Dtype | None:
    """The default dtype of a Python number; None: the default floating-point one."""
    if isinstance(number, Tensor):
        return number.dtype
    match category_of(number):
        case Category.BOOL:
            return BOOL
        case Category.INTEGER:
            return INT64
        case _:
            return None


def host(shape: Shape, dtype: Dtype) -> Tensor:
    """A tensor in host memory, as a data set or ``from_numpy`` brings one."""
    return new(shape, dtype, CPU)


def on(device: Device, shape: Shape, dtype: Dtype) -> Tensor:
    """A tensor on ``device``."""
    return new(shape, dtype, device)
