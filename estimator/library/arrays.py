"""NumPy arrays on the host: shapes and types only. A memory-mapped file has a length that nobody knows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from math import prod
from typing import Any

from analysis.interpreter.values import MISSING, Call, HostFunction, HostValue, Symbol
from estimator.tape.device import CPU
from estimator.tape.dtype import BOOL, FLOAT32, FLOAT64, INT32, INT64, UINT8, Dtype
from estimator.tape.not_followed import NotFollowed
from estimator.tape.operations.creation import empty
from estimator.tape.operations.creation import randint as random_integers
from estimator.tape.registry import operation
from estimator.tape.shape import resolve_shape
from estimator.tape.tensor import Tensor

#: Stands for the unknown length of data in a file; long enough for any window read from it.
MANY = 1 << 40

#: What arrays have beside what is said here: asked for one of these a program goes on, where anything else is an error of its own.
_OTHERS = frozenset(
    """
    argpartition argsort base byteswap choose compress conj conjugate ctypes cumprod cumsum data diagonal dot dump dumps fill flags flat getfield imag
    itemsize itemset nbytes newbyteorder nonzero partition prod ptp put ravel real repeat resize searchsorted setfield setflags sort strides swapaxes take
    tobytes tofile tostring trace var view
    """.split()  # noqa: SIM905  a list of that length is read as a text
)

#: More positions than any batch has.
MOST_POSITIONS = 1 << 14

_DTYPES: dict[str, Dtype] = {
    "int64": INT64, "int32": INT32, "uint16": INT32, "int16": INT32, "uint8": UINT8, "float32": FLOAT32, "float64": FLOAT64, "bool_": BOOL,
}  # fmt: skip


class Array(HostValue):
    """``numpy.ndarray``: host memory, so only its shape and type matter."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Dtype = FLOAT64) -> None:
        self.shape = shape
        self.dtype = dtype

    @staticmethod
    def joined(left: Array, right: Array) -> Any:
        """One for both where they are alike."""
        return left if (left.shape, left.dtype) == (right.shape, right.dtype) else MISSING

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        total = 1
        for length in self.shape:
            total *= length
        return total

    def astype(self, dtype: Any, **_: Any) -> Array:
        """The same shape in another type."""
        return Array(self.shape, as_dtype(dtype))

    def copy(self) -> Array:
        """The same."""
        return Array(self.shape, self.dtype)

    @property
    def T(self) -> Array:  # noqa: N802  NumPy's name
        """The dimensions in reverse order."""
        return Array(self.shape[::-1], self.dtype)

    def reshape(self, *shape: Any) -> Array:
        """Another shape of as many elements."""
        wanted = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return Array(resolve_shape(wanted, self.size), self.dtype)

    def transpose(self, *order: Any) -> Array:
        """The dimensions in another order."""
        wanted = tuple(order[0]) if len(order) == 1 and isinstance(order[0], (tuple, list)) else order
        return Array(tuple(self.shape[place] for place in wanted) if wanted else self.shape[::-1], self.dtype)

    def __getattr__(self, name: str) -> Any:
        if name in _OTHERS:
            raise NotFollowed(f"{name} of an array")
        raise AttributeError(f"'ndarray' object has no attribute {name!r}", name=name, obj=self)

    def __len__(self) -> int:
        return self.shape[0]

    def tolist(self) -> Any:
        """Nested lists of numbers, whichever."""
        return [item.tolist() if isinstance(item, Array) else item for item in self]

    def _same(self, *_: Any, **__: Any) -> Array:
        return Array(self.shape, self.dtype)

    def _number(self, *_: Any, **__: Any) -> Any:
        return Symbol("a number of an array", None)

    any = all = max = min = sum = mean = std = item = argmax = argmin = _number
    clip = round = _same

    def flatten(self, *_: Any) -> Array:
        """All elements in one row."""
        return Array((self.size,), self.dtype)

    ravel = flatten

    def squeeze(self, axis: int | None = None) -> Array:
        """Without the dimensions of one element, or without one of them."""
        dropped = None if axis is None else axis % self.ndim
        return Array(tuple(size for place, size in enumerate(self.shape) if size != 1 or dropped not in {None, place}), self.dtype)

    def repeat(self, times: int, axis: int | None = None) -> Array:
        """Every element several times, one after another."""
        if axis is None:
            return Array((self.size * times,), self.dtype)
        return Array(tuple(size * times if place == axis % self.ndim else size for place, size in enumerate(self.shape)), self.dtype)

    __gt__ = __lt__ = __ge__ = __le__ = _same
    __eq__ = __ne__ = _same  # type: ignore[assignment]  # arrays are compared element by element
    __hash__ = object.__hash__
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __floordiv__ = __neg__ = _same

    def __setitem__(self, index: Any, value: Any) -> None:
        """Numbers change, the shape does not."""

    def __iter__(self) -> Iterator[Any]:
        if self.shape[0] >= MANY:
            raise TypeError("how long the data in a file is, is not known")
        return iter([self[place] for place in range(self.shape[0])])

    def __getitem__(self, index: Any) -> Any:
        items = index if isinstance(index, tuple) else (index,)
        if len(items) == len(self.shape) and all(isinstance(item, (int, Symbol)) for item in items):
            return 0.5 if self.dtype.is_floating_point else 0  # a number, whichever
        kept: list[int] = []
        lengths = iter(self.shape)
        for item in items:
            length = 1 if item is None else next(lengths)
            if item is None or isinstance(item, slice):
                kept.append(length if item is None else window(item, length))
            elif isinstance(item, (list, Array, Tensor)) and getattr(item, "shape", (1,)) != ():
                kept.append(len(item))
        return Array((*kept, *lengths), self.dtype)


def window(item: slice, length: int) -> int:
    """How many elements a slice takes; only the distance of its bounds has to be known."""
    start, stop = (_number(bound) for bound in (item.start, item.stop))
    if start is None and stop is None:
        return length
    if length >= MANY and stop is None:
        return MANY
    return len(range(*slice(start, stop, _number(item.step)).indices(length)))


def _number(bound: Any) -> int | None:
    if isinstance(bound, Tensor):
        bound = bound.item()
    if bound is None or isinstance(bound, int):
        return bound
    raise NotFollowed(f"a window that begins at {bound!r}")


def as_dtype(value: Any) -> Dtype:
    """The tape's type for a NumPy one, however it is written."""
    if isinstance(value, Dtype):
        return value
    name = value if isinstance(value, str) else getattr(value, "dotted", getattr(value, "__name__", "")).rpartition(".")[2]
    return _DTYPES.get({"float": "float64", "int": "int64", "bool": "bool_"}.get(name, name), FLOAT64)


def _memmap(*_: Any, dtype: Any = "uint8", shape: Any = None, **__: Any) -> Array:
    return Array((MANY,) if shape is None else tuple(shape), as_dtype(dtype))


def load(call: Call) -> Array:
    """A file of which only the name is known: most that are read so for training are one long row of numbers."""
    domain = call.machine.state["domain"]
    domain.observed.assumed(f"{domain.here(call.span)}: what the file holds is not known, taken as one long row of numbers")
    return _memmap(dtype="int64")


def _made(shape: Any, dtype: Any = "float64", **_: Any) -> Array:
    return Array((shape,) if isinstance(shape, int) else tuple(shape), as_dtype(dtype))


def from_numpy(array: Any) -> Tensor:
    """``torch.from_numpy``: a host tensor."""
    if isinstance(array, Symbol) or not isinstance(array, Array):
        raise NotFollowed("the shape of an array")
    return empty(*array.shape, dtype=array.dtype, device=CPU)


def randint(*bounds: Any, **options: Any) -> Tensor:
    """``torch.randint``: positions in data on the host may be any, so they are the first ones; windows read from there have a size."""
    made = random_integers(*bounds, **options)
    if not made.device.counted and made.ndim == 1 and made.numel() <= MOST_POSITIONS:
        made.values = (0,) * made.numel()
    return made


@operation(".numpy")
def numpy(x: Tensor, *_: Any, **__: Any) -> Array:
    """A tensor's numbers as an array: they are on the host then."""
    return Array(tuple(x.shape), x.dtype)


def _number_wise(function: Any) -> Any:
    """A function of numbers, which on an array changes no shape."""
    return lambda x, *rest, **_: Array(x.shape, x.dtype) if isinstance(x, Array) else function(x, *rest)


def _product(values: Any, *_: Any, **__: Any) -> int:
    """The product of the numbers of a shape."""
    return prod(values) if isinstance(values, (tuple, list)) else values


def _transposed(array: Any, axes: Any = None) -> Any:
    return array.transpose(*(axes or ()))


def _with_axis(array: Any, axis: int) -> Array:
    at = axis % (array.ndim + 1)
    return Array((*array.shape[:at], 1, *array.shape[at:]), array.dtype)


def _stacked(arrays: Any, axis: int = 0, **_: Any) -> Array:
    first = arrays[0]
    at = axis % (first.ndim + 1)
    return Array((*first.shape[:at], len(arrays), *first.shape[at:]), first.dtype)


def _joined(arrays: Any, axis: int = 0, **_: Any) -> Array:
    """``numpy.concatenate``."""
    first = arrays[0]
    at = axis % first.ndim
    return Array((*first.shape[:at], sum(each.shape[at] for each in arrays), *first.shape[at + 1 :]), first.dtype)


def _counted(*bounds: Any, dtype: Any = None, **_: Any) -> Array:
    """``numpy.arange``."""
    whole = all(isinstance(bound, int) for bound in bounds)
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    return Array((max(0, math.ceil((stop - start) / step)),), as_dtype(dtype) if dtype is not None else INT64 if whole else FLOAT64)


_NUMBERS = {name: getattr(math, name) for name in ("sqrt", "exp", "log", "log2", "log10", "ceil", "floor", "sin", "cos", "tanh")}
NAMES: dict[str, Any] = {f"numpy.{name}": dtype for name, dtype in _DTYPES.items()}
NAMES.update({f"numpy.{name}": _number_wise(function) for name, function in {**_NUMBERS, "abs": abs, "round": round}.items()})
NAMES["numpy.prod"] = _product
NAMES.update({f"numpy.{name}": _made for name in ("zeros", "ones", "empty")})
NAMES.update(
    {
        "numpy.memmap": _memmap,
        "numpy.fromfile": _memmap,
        "numpy.load": HostFunction("numpy.load", load),
        "numpy.transpose": _transposed,
        "numpy.expand_dims": _with_axis,
        "numpy.stack": _stacked,
        "numpy.broadcast_to": lambda array, shape: Array(tuple(shape), getattr(array, "dtype", FLOAT64)),
        "numpy.put_along_axis": lambda *_: None,
        "numpy.concatenate": _joined,
        "numpy.arange": _counted,
        "torch.from_numpy": from_numpy,
        "torch.randint": randint,
    }
)
