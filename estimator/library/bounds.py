"""Counts that are bounded, or that nobody knows.

``min`` of a known whole number and unknown ones is at most the known one, which is taken, and that is said. How many different things were found in
something of unknown length is not known: the few that stand for all of them are no count.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from analysis.interpreter.builtins import BUILTINS as PLAIN
from analysis.interpreter.values import Call, HostFunction, Symbol, Value
from estimator.library.language import domain_of
from estimator.library.symbols import Lost, Number
from estimator.library.unknown_numbers import is_open

#: Items of a container that are looked at.
_LOOKED_AT = 64


def _least(call: Call) -> Value:
    """``min(a, b, …)``."""
    known = [value for value in call.args if type(value) is int]
    unknown = [value for value in call.args if isinstance(value, Symbol) and not isinstance(value, Lost)]
    if not known or not unknown or len(known) + len(unknown) < len(call.args) or call.kwargs:
        return PLAIN["min"].run(call)
    domain, bound = domain_of(call), min(known)
    domain.observed.assumed(f"{domain.here(call.span)}: {domain.said(unknown[0])} is not known, {bound} at most is used of it: {bound} is taken")
    return bound


def _length(call: Call) -> Value:
    """``len(…)``: of a table or a set of what stands for things of unknown number, a number that is not known."""
    held = call.args[0] if call.args else None
    if isinstance(held, (dict, set, frozenset)) and any(map(is_open, islice(held, _LOOKED_AT))):
        number = Number("how many different items there are", call.span, call.machine.stamp)
        number.source = next(item for item in held if is_open(item))
        return number
    return PLAIN["len"].run(call)


BUILTINS: dict[str, Any] = {"min": HostFunction("min", _least), "len": HostFunction("len", _length)}
