"""Element types: their sizes and how they combine (``torch.result_type``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from analysis.interpreter.values import HostFunction, HostValue


class Category(IntEnum):
    """Kinds of numbers, in the order in which the later one wins a promotion."""

    BOOL = 0
    INTEGER = 1
    FLOAT = 2
    COMPLEX = 3


@dataclass(frozen=True)
class Dtype(HostValue):
    """``torch.dtype``: ``itemsize`` in bytes."""

    name: str
    itemsize: int
    category: Category

    @property
    def is_floating_point(self) -> bool:
        """Whether it is a floating-point type."""
        return self.category is Category.FLOAT

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex type."""
        return self.category is Category.COMPLEX

    @property
    def is_signed(self) -> bool:
        """Whether it holds negative numbers."""
        return self.name not in {"bool", "uint8"}

    def __repr__(self) -> str:
        return f"torch.{self.name}"


BOOL = Dtype("bool", 1, Category.BOOL)
UINT8 = Dtype("uint8", 1, Category.INTEGER)
INT8 = Dtype("int8", 1, Category.INTEGER)
INT16 = Dtype("int16", 2, Category.INTEGER)
INT32 = Dtype("int32", 4, Category.INTEGER)
INT64 = Dtype("int64", 8, Category.INTEGER)
FLOAT8_E4M3 = Dtype("float8_e4m3fn", 1, Category.FLOAT)
FLOAT8_E5M2 = Dtype("float8_e5m2", 1, Category.FLOAT)
FLOAT16 = Dtype("float16", 2, Category.FLOAT)
BFLOAT16 = Dtype("bfloat16", 2, Category.FLOAT)
FLOAT32 = Dtype("float32", 4, Category.FLOAT)
FLOAT64 = Dtype("float64", 8, Category.FLOAT)
COMPLEX64 = Dtype("complex64", 8, Category.COMPLEX)
COMPLEX128 = Dtype("complex128", 16, Category.COMPLEX)

DTYPES = (
    BOOL, UINT8, INT8, INT16, INT32, INT64, FLOAT8_E4M3, FLOAT8_E5M2,
    FLOAT16, BFLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128,
)  # fmt: skip
HALVES = (FLOAT16, BFLOAT16)
#: Other spellings of the same types.
ALIASES = {
    "half": FLOAT16, "float": FLOAT32, "double": FLOAT64, "long": INT64, "int": INT32,
    "short": INT16, "cfloat": COMPLEX64, "cdouble": COMPLEX128,
}  # fmt: skip


#: Python's types, which stand for types of elements as well.
_PLAIN = {"bool": BOOL, "int": INT64, "float": FLOAT64, "complex": COMPLEX128}


def as_dtype(value: Any) -> Dtype | None:
    """The type of elements that a type given as ``dtype`` means; None where none is given."""
    if isinstance(value, HostFunction):
        return _PLAIN.get(value.name)
    return _PLAIN.get(value.__name__) if isinstance(value, type) else value


@dataclass(frozen=True)
class NumberInfo(HostValue):
    """``torch.finfo`` and ``torch.iinfo``."""

    min: float
    max: float
    eps: float
    tiny: float
    bits: int
    dtype: str

    @property
    def smallest_normal(self) -> float:
        """Another name of ``tiny``."""
        return self.tiny


def _float_limits(mantissa: int, largest_exponent: int) -> tuple[float, float, float]:
    largest = (2 - 2.0**-mantissa) * 2.0**largest_exponent
    return largest, 2.0**-mantissa, 2.0 ** (1 - largest_exponent)


#: (mantissa bits, largest exponent) of the IEEE formats.
_FLOATS = {FLOAT16: (10, 15), BFLOAT16: (7, 127), FLOAT32: (23, 127), FLOAT64: (52, 1023)}


def finfo(dtype: Dtype = FLOAT32) -> NumberInfo:
    """Limits of a floating-point type."""
    largest, eps, tiny = _float_limits(*_FLOATS[dtype])
    return NumberInfo(-largest, largest, eps, tiny, dtype.itemsize * 8, dtype.name)


def iinfo(dtype: Dtype) -> NumberInfo:
    """Limits of an integer type."""
    bits = dtype.itemsize * 8
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dtype.is_signed else (0, 2**bits - 1)
    return NumberInfo(low, high, 0, 0, bits, dtype.name)


def promote(left: Dtype, right: Dtype) -> Dtype:
    """The type that holds both (``torch.promote_types``)."""
    if left == right:
        return left
    if left.category is not right.category:
        return left if left.category > right.category else right
    if left.itemsize == right.itemsize:
        if left.category is Category.FLOAT:
            return FLOAT32  # float16 with bfloat16
        return INT16  # int8 with uint8
    return left if left.itemsize > right.itemsize else right


def category_of(number: complex) -> Category:
    """The category of a Python number."""
    match number:
        case bool():
            return Category.BOOL
        case int():
            return Category.INTEGER
        case float():
            return Category.FLOAT
        case _:
            return Category.COMPLEX
