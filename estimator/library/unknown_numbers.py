"""Tensors made of numbers that are not known: their shape is, as long as it is known how many there are."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.files import Unread
from analysis.interpreter.values import Alternatives, Call, External, HostFunction, HostValue, Symbol, Value
from estimator.library.arrays import MANY, Array, load
from estimator.library.language import domain_of, tensor_of_tokens
from estimator.library.symbols import Collected, Number, OneOfMany
from estimator.library.tokens import Tokens, row_in
from estimator.tape import facade
from estimator.tape.device import CPU, CUDA, Device, as_device
from estimator.tape.dtype import BOOL, FLOAT16, FLOAT32, FLOAT64, INT16, INT32, INT64, UINT8, Dtype
from estimator.tape.operations.conversion import to
from estimator.tape.operations.creation import are_plain, empty
from estimator.tape.registry import operation
from estimator.tape.tensor import Tensor

#: Classes of tensors by type: ``torch.LongTensor`` and its kin.
_CLASSES: dict[str, Dtype] = {
    "LongTensor": INT64, "IntTensor": INT32, "ShortTensor": INT16, "ByteTensor": UINT8, "BoolTensor": BOOL, "FloatTensor": FLOAT32, "DoubleTensor": FLOAT64,
    "HalfTensor": FLOAT16,
}  # fmt: skip
#: Numbers that are looked through in the time of one step.
_NUMBERS_PER_STEP = 64
_AS_BEFORE: Any = facade.NAMES["torch.tensor"]


def _tensor(call: Call) -> Value:
    """``torch.tensor(data)``, where unknown numbers stand for any."""
    data = call.args[0] if call.args else call.kwargs.get("data")
    dtype, device = call.kwargs.get("dtype"), call.kwargs.get("device")
    plain = isinstance(data, (list, tuple)) and are_plain(data)
    call.machine.steps -= _size(data) // _NUMBERS_PER_STEP  # a program may make many large ones
    if isinstance(data, (list, tuple)) and not plain:
        row = row_in(data)
        data = data if row is None else row
    if _is_of_a_file(data):
        data = load(call)
    if isinstance(data, Tokens):
        made: Tensor = tensor_of_tokens(domain_of(call), data, ())
        return made if device is None else made.to(as_device(device))
    if isinstance(data, Array):
        if data.size >= MANY and device is not None and as_device(device).counted:
            return _AS_BEFORE(data)
        return empty(*data.shape, dtype=dtype or data.dtype, device=CPU if device is None else as_device(device))
    if isinstance(data, Number) or (isinstance(data, (list, tuple)) and not plain and _countable(data)):
        data = _with_numbers(data)
    return _AS_BEFORE(data, *call.args[1:], **{name: value for name, value in call.kwargs.items() if name != "data"})


def _is_of_a_file(data: Value) -> bool:
    """Whether data is a number for each item of the text of a file that is not at hand: for each character, say."""
    made = data if isinstance(data, Collected) else None
    while isinstance(made, Symbol) and not isinstance(made, Unread):
        made = made.source
    return isinstance(made, Unread)


def _size(data: Value) -> int:
    """Numbers in nested lists, as many in each row as in the first."""
    return len(data) * max(1, _size(data[0])) if isinstance(data, (list, tuple)) and data else 0


def _countable(data: Any) -> bool:
    """Whether every level of nested lists is as long as it seems: numbers of one and the same item are as many as are written."""
    if not isinstance(data, (list, tuple)) or are_plain(data):
        return True
    items = {id(item) for item in map(_one_of_many, data) if item is not None}
    return len(items) <= 1 and all(isinstance(value, Number) or not is_open(value) for value in data) and all(_countable(item) for item in data)


def is_open(value: Any) -> bool:
    """Whether a value is, or comes of, one of nobody knows how many."""
    return _one_of_many(value) is not None


def _one_of_many(value: Any) -> OneOfMany | None:
    """The item of nobody knows how many that a value is, or comes of."""
    while isinstance(value, Symbol):
        if isinstance(value, OneOfMany):
            return value
        value = value.source
    return None


def _with_numbers(data: Any) -> Any:
    match data:
        case list() | tuple() if are_plain(data):
            return data
        case list() | tuple():
            return [_with_numbers(item) for item in data]
        case Alternatives(values=values):
            return next((value for value in values if isinstance(value, (int, float))), 0)
        case Symbol() | External():
            return 0
        case Tokens():
            return [0] * data.length
    return data


class TensorClass(HostValue):
    """``torch.LongTensor`` and its kin: a type and a device; called, it makes a tensor of numbers or of a size."""

    __slots__ = ("device", "dtype")

    def __init__(self, dtype: Dtype, device: Device) -> None:
        self.dtype = dtype
        self.device = device

    def __call__(self, *given: Any, **_: Any) -> Tensor:
        """A tensor of these numbers, or of this size."""
        if not given or (all(isinstance(size, int) for size in given) and not isinstance(given[0], bool)):
            return empty(*(given or (0,)), dtype=self.dtype, device=self.device)
        data = given[0]
        if isinstance(data, Array):
            return empty(*data.shape, dtype=self.dtype, device=self.device)
        if isinstance(data, Tensor):
            return to(data, self.dtype, device=self.device)
        if isinstance(data, Tokens) and not data.why:
            return empty(len(data), dtype=self.dtype, device=self.device)
        if isinstance(data, (list, tuple)) and _countable(data):
            data = _with_numbers(data)
        made: Tensor = _AS_BEFORE(data, dtype=self.dtype, device=self.device)
        return made


@operation(".type")
def type_(x: Tensor, dtype: Any = None, *_: Any, **__: Any) -> Any:
    """``x`` in another type, and on the device of a class of tensors; without one the name of its type."""
    if dtype is None:
        return f"torch.{'cuda.' if x.is_cuda else ''}{x.dtype.name}"
    if isinstance(dtype, TensorClass):
        return to(x, dtype.dtype, device=dtype.device)
    return to(x, dtype)


NAMES: dict[str, Any] = {f"torch.{name}": HostFunction(f"torch.{name}", _tensor) for name in ("tensor", "as_tensor", "asarray")}
NAMES.update({f"torch.{name}": TensorClass(dtype, CPU) for name, dtype in _CLASSES.items()})
NAMES.update({f"torch.cuda.{name}": TensorClass(dtype, CUDA) for name, dtype in _CLASSES.items()})
