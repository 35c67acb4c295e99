"""Tensors of which nothing is known but what the code says of their shape: ``torch.load(path).view(4, 64, 64)`` has one."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.interpreter.values import Symbol, Value
from estimator.tape.device import CPU
from estimator.tape.operations.creation import empty
from estimator.tape.tensor import Tensor

_SAYING = frozenset({".view", ".reshape"})
#: Methods that give the same thing again, elsewhere or in another type.
_TYPES = ("float", "long", "half", "bfloat16", "int")
_SAME = frozenset(f".{name}" for name in (*_TYPES, "to", "cuda", "cpu", "contiguous", "clone", "detach", "pin_memory", "copy", "squeeze"))


def of_unknown(callee: Value, args: Sequence[Value]) -> Tensor | Symbol | None:
    """What a call of a method of something unknown gives: a host tensor where it says the shape, the same unknown where it changes none, else None."""
    if not isinstance(callee, Symbol) or not callee.test:
        return None
    if callee.test[0] in _SAME and isinstance(callee.test[1], Symbol):
        return callee.test[1]
    if callee.test[0] not in _SAYING:
        return None
    sizes = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    if not sizes or not all(isinstance(size, int) and size > 0 for size in sizes):
        return None
    return empty(*sizes, device=CPU)
