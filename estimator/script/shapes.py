"""Tensors of which nothing is known but what the code says of their shape: ``torch.load(path).view(4, 64, 64)`` has one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.interpreter.values import Symbol, Value
from estimator.library.symbols import Lost
from estimator.tape.device import CPU
from estimator.tape.dtype import INT64
from estimator.tape.operations.creation import empty
from estimator.tape.run import current
from estimator.tape.tensor import Tensor

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

_SAYING = frozenset({".view", ".reshape"})
#: Methods that give the same thing again, elsewhere or in another type.
_TYPES = ("float", "long", "half", "bfloat16", "int")
_SAME = frozenset(f".{name}" for name in (*_TYPES, "to", "cuda", "cpu", "contiguous", "clone", "detach", "pin_memory", "copy", "squeeze", "narrow"))
#: Numbers that data from a file is taken to hold where a view leaves their count open: as many as a small corpus has tokens.
_OPEN_COUNT = 1 << 20
#: Rows that a table of a sample is taken to have, where they are as many as the sample has of something: boxes of a picture, words of a caption.
_OPEN_ROWS = 16
_LOADER = "<library>/torch/utils/data.py"


def of_unknown(callee: Value, args: Sequence[Value]) -> Tensor | Symbol | None:
    """What a call of a method of something unknown gives: a host tensor where it says the shape, the same unknown where it changes none, else None."""
    if not isinstance(callee, Symbol) or not callee.test:
        return None
    if callee.test[0] in _SAME and isinstance(callee.test[1], Symbol):
        return callee.test[1]
    if callee.test[0] not in _SAYING:
        return None
    sizes = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    if not sizes or not all(isinstance(size, int) and (size > 0 or size == -1) for size in sizes):
        return None
    if -1 not in sizes:
        return empty(*sizes, device=CPU)
    return None if _comes_of_a_lost_tensor(callee) else _open_table(sizes)


def of_sample(machine: Machine, sizes: Sequence[Value]) -> Tensor | None:
    """A table made while a loader draws a sample, of rows that nobody has counted and columns that are known; None where it is none."""
    if not any(span.path == _LOADER for span in machine.path):
        return None
    shape = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)) else sizes
    if len(shape) < 2 or not isinstance(shape[0], Symbol) or not all(isinstance(size, int) for size in shape[1:]):  # noqa: PLR2004  rows and columns
        return None
    current().assume(f"how many rows a table of a sample has is not known: {_OPEN_ROWS} are taken")
    return empty(_OPEN_ROWS, *shape[1:], device=CPU)


def _comes_of_a_lost_tensor(value: Value) -> bool:
    """Whether an unknown is one that a model made: it is no data from a file."""
    while isinstance(value, Symbol):
        if isinstance(value, Lost):
            return True
        value = value.source if value.source is not None or not value.test else value.test[1]
    return False


def _open_table(sizes: Sequence[int]) -> Tensor | None:
    """Rows or columns of token numbers, of which nobody knows how many there are."""
    if len(sizes) != 2 or tuple(sizes) == (-1, -1):  # noqa: PLR2004  a table
        return None
    current().assume(f"how much data the file holds is not known: {_OPEN_COUNT:,} token numbers are taken")
    known = max(sizes)
    return empty(*(size if size > 0 else _OPEN_COUNT // known for size in sizes), dtype=INT64, device=CPU)
