"""Counters of objects that the source does not tell: what the program counts up by a number is taken for the iteration of the loop that runs."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from analysis.interpreter.values import Symbol, Value
from analysis.source import SourceFile
from analysis.syntax import walk

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

_DEPTH = 3


def count_of(machine: Machine, value: Value) -> int | None:
    """What a counter of unknown beginning is in the iteration that runs; None: it is no counter.

    An attribute that some file of the run counts up began at zero with the loop, and what was known before any loop (the step to go on from) is
    what a fresh run begins with: zero.
    """
    counted, depth = 0, 0
    while isinstance(value, Symbol):
        match value.test:
            case ("+", Symbol() as inner, int(more)) | ("+", int(more), Symbol() as inner):
                value, counted = inner, counted + more
            case ("-", Symbol() as inner, int(less)):
                value, counted = inner, counted - less
            case _:
                break
        depth += 1
    if not isinstance(value, Symbol):
        return None
    if depth <= _DEPTH and _is_counted_up(machine, value):
        return machine.stamp[-1][1] + counted
    return counted if depth and not value.stamp and not value.rank_varying else None


def _is_counted_up(machine: Machine, value: Symbol) -> bool:
    """Whether it is an attribute that some file of the run counts up."""
    whole, _, name = value.why.rpartition(".")
    return not value.test and bool(whole) and any(name in counted_up(module.file) for module in machine.loaded.values())


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip


def at_the_end(condition: Symbol, turn: int, rounds: int, stop: Value = None) -> bool | None:
    """What a comparison of a counter with ``stop`` gives in the given ``turn`` of a loop that goes round so many ``rounds``, as if they were all.

    Without a ``stop`` the counter is compared with the length of something unknown. None: it is no such comparison.
    """
    match condition.test:
        case ("not", Symbol() as inner):
            found = at_the_end(inner, turn, rounds, stop)
            return None if found is None else not found
        case (str() as sign, int() as count, Symbol() as length) if sign in _COMPARISONS and count in {turn, turn + 1}:
            end = _counted_to(length, rounds, stop)
            return None if end is None else _COMPARISONS[sign](count, end)
    return None


def _counted_to(value: Value, rounds: int, stop: Value) -> int | None:
    match value:
        case Symbol() if value is stop:
            return rounds
        case Symbol(test=("+", inner, int(more))):
            found = _counted_to(inner, rounds, stop)
            return None if found is None else found + more
        case Symbol(test=("-", inner, int(less))):
            found = _counted_to(inner, rounds, stop)
            return None if found is None else found - less
        case Symbol(test=(), why=why) if stop is None and why.endswith(".__len__()"):
            return rounds
    return None


@lru_cache(maxsize=4096)
def counted_up(file: SourceFile) -> frozenset[str]:
    """The attributes to which the file adds a whole number."""
    return frozenset(
        node.target.attr
        for node in walk(file.tree)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Attribute) and isinstance(node.value, ast.Constant)
    )
