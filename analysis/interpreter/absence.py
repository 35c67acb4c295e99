"""Whether a value is None, where the source does not tell which value it is: ranks with different values still agree that there is one."""

from __future__ import annotations

from analysis.interpreter.joins import LACKING
from analysis.interpreter.values import Alternatives, Symbol, Value

#: Operators of which nothing comes that is None.
_COMPUTING = frozenset({"+", "-", "*", "/", "//", "%", "**", "@"})


def is_computed(value: Value) -> bool:
    """Whether it is a number that was read or computed, and so is not None."""
    return isinstance(value, Symbol) and (value.is_number or (bool(value.test) and value.test[0] in _COMPUTING))


def differs(value: Value) -> bool:
    """Whether ranks may answer differently if it is None: a condition on the rank has decided who has it."""
    if isinstance(value, Alternatives):
        return value.rank_varying or any(differs(each) for each in value.values)
    return isinstance(value, Symbol) and value.role == LACKING
