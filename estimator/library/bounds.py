"""``min`` of a known whole number and unknown ones: it is at most the known one, which is taken, and that is said."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.builtins import BUILTINS as PLAIN
from analysis.interpreter.values import Call, HostFunction, Symbol, Value
from estimator.library.language import domain_of
from estimator.library.symbols import Lost


def _least(call: Call) -> Value:
    """``min(a, b, …)``."""
    known = [value for value in call.args if type(value) is int]
    unknown = [value for value in call.args if isinstance(value, Symbol) and not isinstance(value, Lost)]
    if not known or not unknown or len(known) + len(unknown) < len(call.args) or call.kwargs:
        return PLAIN["min"].run(call)
    domain, bound = domain_of(call), min(known)
    domain.observed.assumed(f"{domain.here(call.span)}: {domain.said(unknown[0])} is not known, {bound} at most is used of it: {bound} is taken")
    return bound


BUILTINS: dict[str, Any] = {"min": HostFunction("min", _least)}
