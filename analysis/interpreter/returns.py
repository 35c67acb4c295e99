"""What a function gives that some ranks leave in one place and others in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.interpreter.joins import join
from analysis.interpreter.operators import negation
from analysis.interpreter.values import Symbol, Value

if TYPE_CHECKING:
    from analysis.interpreter.frames import Exit
    from analysis.interpreter.machine import Machine
    from analysis.source import Span


def either(machine: Machine, left: Exit, other: Value, span: Span) -> Value:
    """The value of ``left``, or ``other`` where it was not taken. ``if rank == 0: return True`` and ``return False`` give what was asked."""
    if left.divided is None:
        return join(other, left.value)
    condition, holds = left.divided
    if isinstance(condition, Symbol) and isinstance(left.value, bool) and isinstance(other, bool) and left.value != other:
        return condition if left.value == holds else negation(machine, condition, span)
    return join(other, left.value, divided=True)
