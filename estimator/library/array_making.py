"""NumPy arrays out of what the program holds: numbers, rows of tokens, other arrays."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import Call, HostFunction, Symbol, Value
from estimator.library.arrays import MANY, Array, as_dtype, from_numpy
from estimator.library.images import Image, array_of
from estimator.library.language import domain_of, tensor_of_tokens
from estimator.library.tokens import Tokens, row_in
from estimator.tape.dtype import FLOAT64, INT64
from estimator.tape.tensor import Tensor

_DEEPEST = 6


def _array(call: Call) -> Value:
    """``numpy.array(data)``: a row of tokens stays one."""
    data, dtype = call.args[0] if call.args else call.kwargs.get("object"), call.kwargs.get("dtype", call.args[1] if len(call.args) > 1 else None)
    if isinstance(data, Image):
        return array_of(call, data)
    row = data if isinstance(data, Tokens) else row_in(data) if isinstance(data, (list, tuple)) else None
    if row is not None:
        return row
    found = data if isinstance(data, Array) else Array(tuple(data.shape), data.dtype) if isinstance(data, Tensor) else _of_numbers(data)
    if found is None:
        made = Symbol("numpy.array(…)", call.span, call.machine.stamp)
        made.source = data
        return made
    return found if dtype is None else found.astype(dtype)


def _of_numbers(data: Any) -> Array | None:
    """Nested lists of numbers; None where one of them is something else."""
    shape: list[int] = []
    while isinstance(data, (list, tuple)) and data and len(shape) < _DEEPEST:
        shape.append(len(data))
        data = data[0]
    if isinstance(data, Array):
        return Array((*shape, *data.shape), data.dtype)
    if isinstance(data, (list, tuple)):
        return Array((*shape, 0))
    return Array(tuple(shape), INT64 if isinstance(data, int) else FLOAT64) if isinstance(data, (int, float)) else None


def _full(call: Call) -> Value:
    """``numpy.full(shape, value)``: of the value's type where none is given."""
    shape, value = call.get(0, "shape"), call.get(1, "fill_value")
    sizes = (shape,) if isinstance(shape, int) else shape
    if not isinstance(sizes, (list, tuple)) or not all(isinstance(size, int) for size in sizes):
        return Symbol("numpy.full(…)", call.span, call.machine.stamp)
    dtype = call.get(2, "dtype")
    return Array(tuple(sizes), as_dtype(dtype) if dtype is not None else INT64 if isinstance(value, int) else FLOAT64)


def _where(call: Call) -> Value:
    """``numpy.where(condition, x, y)``: as long as the longest; of a condition alone, only the run knows."""
    rows = (each if isinstance(each, Tokens) else row_in(each) if isinstance(each, (list, tuple)) else None for each in call.args)
    row = next((each for each in rows if each is not None), None)
    array = next((each for each in call.args if isinstance(each, Array)), None)
    if len(call.args) == 1 and array is not None and array.size < MANY:
        return tuple(Array((array.size,), INT64) for _ in array.shape)  # positions on the host: at most all
    if len(call.args) > 1 and (row is not None or array is not None):
        return array if row is None else row.copy()
    return Symbol("numpy.where(…)", call.span, call.machine.stamp)


def _assigned(call: Call) -> Value:
    """``scipy.optimize.linear_sum_assignment``: pairs of rows and columns, as many as there are of the fewer."""
    shape = getattr(call.args[0], "shape", None)
    if shape is None:
        return Symbol("scipy.optimize.linear_sum_assignment(…)", call.span, call.machine.stamp)
    return tuple(Array((min(shape),), INT64) for _ in shape)


def _from_numpy(call: Call) -> Value:
    data = call.args[0]
    return tensor_of_tokens(domain_of(call), data, ()) if isinstance(data, Tokens) else from_numpy(data)


NAMES: dict[str, Any] = {f"numpy.{name}": HostFunction(f"numpy.{name}", _array) for name in ("array", "asarray", "asanyarray", "ascontiguousarray")}
NAMES["scipy.optimize.linear_sum_assignment"] = HostFunction("scipy.optimize.linear_sum_assignment", _assigned)
NAMES["numpy.full"] = HostFunction("numpy.full", _full)
NAMES["numpy.where"] = HostFunction("numpy.where", _where)
NAMES["torch.from_numpy"] = HostFunction("torch.from_numpy", _from_numpy)
