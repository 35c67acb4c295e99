"""Element-wise functions of one tensor, in three tables: by whether they keep their input, their result, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from estimator.tape.copying import like
from estimator.tape.dtype import BOOL, Dtype
from estimator.tape.graph import Node, record, tracked
from estimator.tape.inplace import original, overwritten
from estimator.tape.operations.pointwise import combined, result_dtype
from estimator.tape.registry import operation
from estimator.tape.run import current
from estimator.tape.tensor import Tensor

_KEEP_INPUT = (
    "abs log log2 log10 log1p sin cos tan asin acos atan sinh cosh erf erfinv expm1_ square digamma lgamma sinc"
    " clamp clamp_min clamp_max clip gelu silu elu softplus leaky_relu hardtanh hardswish mish hardsigmoid logsigmoid celu selu relu6"
    " softshrink hardshrink threshold"
)
_KEEP_RESULT = "exp expm1 sqrt rsqrt reciprocal sigmoid tanh relu"
_KEEP_NOTHING = "neg positive real conj sign floor ceil round trunc frac nan_to_num sgn"
#: Those that give integers for integers; the others give real numbers.
_KEEP_INTEGERS = {"abs", "clamp", "clamp_min", "clamp_max", "clip", "square", "relu", "relu6", "hardtanh", "threshold"}
#: Also, or only, of ``torch.nn.functional``.
_FUNCTIONAL = {
    "gelu", "silu", "softplus", "leaky_relu", "hardtanh", "hardswish", "mish", "hardsigmoid", "logsigmoid", "celu", "selu", "relu6",
    "softshrink", "hardshrink", "threshold",
    "relu", "sigmoid", "tanh", "elu",
}  # fmt: skip
_OPERATORS = {"neg": ".__neg__", "abs": ".__abs__", "positive": ".__pos__"}
_TESTS = "isnan isinf isfinite logical_not bitwise_not signbit"
#: Of those that keep their input, the ones whose in-place form keeps the result instead; all others copy the input first.
_RESULT_SUFFICES = {"leaky_relu", "celu", "selu", "elu"}
#: How many tensors of the input's size backward makes one after another, each from the one before; one where not listed.
_STEPS = {
    "sin": 2, "cos": 3, "erf": 5, "square": 3, "abs": 2, "sqrt": 2, "rsqrt": 3, "reciprocal": 3,
    "log1p": 2, "log2": 2, "log10": 2, "expm1": 2,
}  # fmt: skip
#: Of these, the ones that make two factors first and then multiply them.
_TWO_FACTORS = {"rsqrt", "reciprocal"}
#: How many Boolean masks backward makes.
_MASKS = {"clamp": 2, "clip": 2, "clamp_min": 1, "clamp_max": 1}


def _real(dtype: Dtype) -> Dtype:
    return dtype if dtype.is_floating_point or dtype.is_complex else current().default_dtype


def _function(name: str, *, keep_input: bool, keep_result: bool, to_real: bool) -> Callable[..., Tensor]:
    def apply(x: Tensor, *_numbers: Any, inplace: bool = False, out: Tensor | None = None, **_: Any) -> Tensor:
        out = x if inplace else out
        result_suffices = keep_result or (out is not None and name in _RESULT_SUFFICES)
        node = record((x,), _back, (original(x, out),) if keep_input and not result_suffices else (), name)
        if out is not None:
            if node is not None and result_suffices:
                node.keep(out)
            return overwritten(out, node)
        result = like(x, _real(x.dtype) if to_real else x.dtype)
        if node is not None and keep_result:
            node.keep(result)
        tracked(node, result)
        return result

    apply.__name__ = name
    return apply


def _back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """The gradient times the derivative."""
    gradient = gradients[0]
    if gradient is None:
        return (None,)
    operands: list[Tensor] = [gradient, *(kept for kept in node.unpack() if kept is not None)]
    dtype = result_dtype(*operands)
    masks = [like(gradient, BOOL) for _ in range(_MASKS.get(node.context, 0))]
    factor: Tensor | None = None
    first = combined(operands[:1], dtype) if node.context in _TWO_FACTORS else None
    for _ in range(_STEPS.get(node.context, 1) - (2 if first is not None else 1)):
        factor = combined(operands[1:], dtype)
    result = combined(operands, dtype)
    del factor, first, masks
    return (result,)


def _inplace(function: Callable[..., Tensor], name: str) -> Callable[..., Tensor]:
    def apply(x: Tensor, *numbers: Any, **options: Any) -> Tensor:
        options.pop("inplace", None)
        return function(x, *numbers, inplace=True, **options)

    apply.__name__ = f"{name}_"
    return apply


def _enter(names: str, *, keep_input: bool = False, keep_result: bool = False) -> None:
    for spelled in names.split():
        name = spelled.rstrip("_")
        to_real = (keep_input or keep_result) and name not in _KEEP_INTEGERS
        function = _function(name, keep_input=keep_input, keep_result=keep_result, to_real=to_real)
        spellings = [name, f".{name}", *([f"F.{name}"] if name in _FUNCTIONAL else []), *([_OPERATORS[name]] if name in _OPERATORS else [])]
        operation(*spellings)(function)
        written = [f"{name}_", f".{name}_", *([f"F.{name}_"] if name in _FUNCTIONAL else [])]
        operation(*written)(_inplace(function, name))


_enter(_KEEP_INPUT, keep_input=True)
_enter(_KEEP_RESULT, keep_result=True)
_enter(_KEEP_NOTHING)


def _test(x: Tensor, *_: Any) -> Tensor:
    return like(x, BOOL)


for _name in _TESTS.split():
    operation(_name, f".{_name}")(_test)


@operation(".__invert__")
def invert(x: Tensor) -> Tensor:
    """Bits turned over."""
    return like(x)
