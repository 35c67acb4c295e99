"""Element-wise arithmetic of two operands: what each keeps, and its in-place forms."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from estimator.tape.dtype import BOOL, COMPLEX64, INT64, Category, Dtype, category_of, promote
from estimator.tape.graph import Node, record, tracked
from estimator.tape.inplace import original, overwritten
from estimator.tape.not_followed import NotFollowed
from estimator.tape.registry import operation
from estimator.tape.run import current
from estimator.tape.shape import broadcast, elementwise_strides
from estimator.tape.tensor import Tensor, new


def result_dtype(*operands: Any) -> Dtype:
    """``torch.result_type``: tensors with dimensions win over those without, these over Python numbers, within a category."""
    dimensioned = [x.dtype for x in operands if isinstance(x, Tensor) and x.shape]
    single = [x.dtype for x in operands if isinstance(x, Tensor) and not x.shape]
    numbers = [_number_dtype(x) for x in operands if not isinstance(x, Tensor)]
    found = [reduce(promote, rank) for rank in (dimensioned, single, numbers) if rank]
    return reduce(lambda dtype, other: other if other.category > dtype.category else dtype, found)


def _number_dtype(number: Any) -> Dtype:
    if not isinstance(number, (bool, int, float, complex)):
        raise NotFollowed(f"arithmetic of a tensor and a {type(number).__name__}")
    match category_of(number):
        case Category.BOOL:
            return BOOL
        case Category.INTEGER:
            return INT64
        case Category.FLOAT:
            return current().default_dtype
        case _:
            return COMPLEX64


def combined(operands: Sequence[Any], dtype: Dtype, out: Tensor | None = None) -> Tensor:
    """Memory for an element-wise result of tensors and numbers: ``out`` if it is given, new otherwise."""
    if out is not None:
        return out
    tensors = [x for x in operands if isinstance(x, Tensor)]
    shape = broadcast(*(x.shape for x in tensors))
    strides = elementwise_strides(shape, [x.layout_key for x in tensors])
    device = next((x.device for x in tensors if x.shape or x.device.counted), tensors[0].device)
    return new(shape, dtype, device, strides)


def _wants_gradient(x: Any) -> bool:
    return isinstance(x, Tensor) and x.requires_grad


def _inputs(*operands: Any) -> tuple[Tensor | None, ...]:
    return tuple(x if isinstance(x, Tensor) else None for x in operands)


def _numbers(function: Callable[[Any, Any], Any], x: Any, other: Any) -> tuple[Any, ...] | None:
    """The number that two known single numbers give: positions in data are computed so."""
    values = [operand.values if isinstance(operand, Tensor) else (operand,) for operand in (x, other)]
    if values[0] is None or values[1] is None or len(values[0]) != 1 or len(values[1]) != 1:
        return None
    return (function(values[0][0], values[1][0]),)


def _fractional(x: Any, other: Any) -> Dtype:
    dtype = result_dtype(x, other)
    return dtype if dtype.category >= Category.FLOAT else current().default_dtype


@operation("add", ".add", ".__add__", ".__radd__")
def add(x: Any, other: Any, *, alpha: float = 1, out: Tensor | None = None) -> Tensor:
    """The sum; keeps nothing."""
    node = record(_inputs(x, other), _add_back, context=alpha)
    result = _done(node, combined((x, other), result_dtype(x, other), out), out)
    result.values = _numbers(operator.add, x, other) if alpha == 1 else None
    return result


@operation("sub", ".sub", ".__sub__", "subtract")
def sub(x: Any, other: Any, *, alpha: float = 1, out: Tensor | None = None) -> Tensor:
    """The difference; keeps nothing."""
    node = record(_inputs(x, other), _sub_back, context=alpha)
    result = _done(node, combined((x, other), result_dtype(x, other), out), out)
    result.values = _numbers(operator.sub, x, other) if alpha == 1 else None
    return result


@operation("rsub", ".__rsub__")
def rsub(x: Any, other: Any) -> Tensor:
    """``other - x``."""
    return sub(other, x)


@operation("mul", ".mul", ".__mul__", ".__rmul__", "multiply", ".multiply")
def mul(x: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
    """The product; keeps each operand whose partner wants a gradient."""
    node = record(_inputs(x, other), _mul_back, _partners(x, other, out))
    result = _done(node, combined((x, other), result_dtype(x, other), out), out)
    result.values = _numbers(operator.mul, x, other)
    return result


@operation("div")
def divided(x: Any, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Any:
    """``torch.div``, which of two whole numbers makes one here, not a tensor on the host."""
    if isinstance(x, int) and isinstance(other, int) and rounding_mode == "floor":
        return x // other
    return div(x, other, rounding_mode=rounding_mode, out=out)


@operation(".div", ".__truediv__", "divide", "true_divide")
def div(x: Any, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """The quotient; keeps the divisor, and the dividend if the divisor wants a gradient."""
    dtype = _fractional(x, other) if rounding_mode is None else result_dtype(x, other)
    kept = (other if isinstance(other, Tensor) else None, _partners(x, other, out)[1])
    node = record(_inputs(x, other), _div_back, kept) if rounding_mode is None else None
    return _done(node, combined((x, other), dtype, out), out)


@operation(".__rtruediv__")
def rdiv(x: Any, other: Any) -> Tensor:
    """``other / x``: the reciprocal, scaled."""
    return mul(x.reciprocal(), other)


@operation("floor_divide", ".floor_divide", ".__floordiv__", "remainder", ".__mod__", "fmod", ".remainder")
def whole(x: Any, other: Any) -> Tensor:
    """Whole-number division and remainders, which pass no gradient here."""
    return combined((x, other), result_dtype(x, other))


@operation("pow", ".pow", ".__pow__")
def pow(x: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """A power; keeps the base, and the result if the exponent is a tensor that wants a gradient."""
    node = record(_inputs(x, exponent), _pow_back, (original(x, out) if isinstance(x, Tensor) else None, exponent if isinstance(exponent, Tensor) else None))
    result = combined((x, exponent), result_dtype(x, exponent), out)
    if node is not None and _wants_gradient(exponent):
        node.keep(result)
    return _done(node, result, out)


@operation(".__rpow__")
def rpow(x: Tensor, base: Any) -> Tensor:
    """``base ** x``; keeps the exponent and the result."""
    node = record((x,), _power_back, (x,))
    result = combined((x, base), result_dtype(x, base))
    if node is not None:
        node.keep(result)
    return _done(node, result)


@operation("maximum", "minimum", "fmax", "fmin", "atan2", ".maximum", ".minimum")
def extreme(x: Tensor, other: Tensor) -> Tensor:
    """The larger or smaller; keeps both."""
    node = record((x, other), _extreme_back, (other, x))
    return _done(node, combined((x, other), result_dtype(x, other)))


def _partners(x: Any, other: Any, out: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    """(other, x), each if its partner wants a gradient."""
    return (
        other if isinstance(other, Tensor) and _wants_gradient(x) else None,
        original(x, out) if isinstance(x, Tensor) and _wants_gradient(other) else None,
    )


def _done(node: Node | None, result: Tensor, out: Tensor | None = None) -> Tensor:
    if out is not None:
        return overwritten(out, node)
    tracked(node, result)
    return result


def _present(gradients: Sequence[Tensor | None]) -> Tensor:
    gradient = gradients[0]
    assert gradient is not None  # noqa: S101  the engine calls a node only with a gradient
    return gradient


def _add_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = _present(gradients)
    scaled = gradient if node.context == 1 or node.edges[1] is None else combined((gradient,), gradient.dtype)
    return (gradient, scaled)


def _sub_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = _present(gradients)
    return (gradient, combined((gradient,), gradient.dtype) if node.needs(1) else None)


def _mul_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = _present(gradients)
    other, x = node.unpack()
    second = _times(gradient, x) if node.needs(1) else None  # in the order of the arguments' names
    return (_times(gradient, other) if node.needs(0) else None, second)


def _extreme_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """Halves where the operands are equal, nothing where the other one was chosen; both by masks."""
    gradient = _present(gradients)
    other, x = node.unpack()
    results: list[Tensor | None] = [None, None]
    for i in (1, 0):
        if node.needs(i):
            equal = combined([each for each in (x, other) if each is not None], BOOL)
            half = _times(gradient, None)
            results[i] = _times(gradient, half)
            chosen = combined([each for each in (x, other) if each is not None], BOOL)
            del equal, half, chosen
    return results


def _times(gradient: Tensor, kept: Tensor | None) -> Tensor:
    operands = (gradient,) if kept is None else (gradient, kept)
    return combined(operands, result_dtype(*operands))


def _div_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = _present(gradients)
    other, x = node.unpack()
    second = _divisor_back(gradient, x, other) if node.needs(1) else None
    return (_times(gradient, other) if node.needs(0) else None, second)


def _divisor_back(gradient: Tensor, x: Tensor | None, other: Tensor | None) -> Tensor:
    """``-grad * ((x / other) / other)``, a tensor a step."""
    negated = _times(gradient, None)
    quotient = _times(gradient, x)
    factor = _times(quotient, other)
    del quotient
    result = _times(negated, factor)
    del negated, factor
    return result


def _pow_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """``grad * (exponent * base ** (exponent - 1))``."""
    gradient = _present(gradients)
    base, exponent, *_ = node.unpack()
    first = None
    if node.needs(0):
        power = _times(gradient, base)
        factor = _times(power, None)
        del power
        first = _times(gradient, factor)
    return (first, _times(gradient, exponent) if node.needs(1) else None)


def _power_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """``grad * (result * log(base))``."""
    gradient = _present(gradients)
    factor = _times(gradient, None)
    return (_times(gradient, factor),)


def _inplace(name: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def apply(x: Tensor, other: Any, **options: Any) -> Tensor:
        return function(x, other, out=x, **options)

    apply.__name__ = name
    return apply


for _names, _function in {
    (".add_", ".__iadd__"): add,
    (".sub_", ".__isub__"): sub,
    (".mul_", ".__imul__"): mul,
    (".div_", ".__itruediv__"): div,
    (".pow_", ".__ipow__"): pow,
}.items():
    operation(*_names)(_inplace(_names[0][1:], _function))
