"""Conditions that the source leaves open: decided once per world, or run both ways.

A flag (an argument, an environment variable) that was fixed before any loop has one truth in a run, so that ``if use_amp`` means
the same everywhere: one run takes all flags as on, another all as off. What depends on data or on the rank is undecided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.interpreter.values import Alternatives, HostValue, Instance, Symbol, Value
from analysis.library.tensor import Scalar
from analysis.source import Span

if TYPE_CHECKING:
    from analysis.library.domain import TraceDomain


def decide(domain: TraceDomain, condition: Value, span: Span) -> bool | None:
    """The side to take, or None for both."""
    if getattr(condition, "rank_varying", False):
        domain.rank_conditions.add(span)
        return None
    if not isinstance(condition, Symbol) or depends_on_data(condition):
        return None
    domain.decided_flags = True
    if domain.world.collecting and not _about_absence(condition):
        return None
    return domain.world.flags != _negative(condition)


def _negative(condition: Symbol) -> bool:
    """Whether the condition says that something is off or absent."""
    match condition.test:
        case ("not", Symbol() as inner):
            return not _negative(inner)
        case ("is", _, None) | ("==", _, None | False | 0 | ""):
            return True
    return False


def _about_absence(condition: Symbol) -> bool:
    """Whether it asks if something was passed at all: to learn what is done to it, it was."""
    match condition.test:
        case ("not", Symbol() as inner):
            return _about_absence(inner)
        case ("is", _, None):
            return True
    return False


def depends_on_data(value: Value, depth: int = 8) -> bool:
    """Whether it varies within a run: read from a tensor, or made inside a loop."""
    match value:
        case Scalar():
            return True
        case Symbol(stamp=stamp, test=test):
            return bool(stamp) or (depth > 0 and any(depends_on_data(part, depth - 1) for part in test[1:]))
        case Alternatives() | Instance() | HostValue():
            return True
    return False
