"""Numbers that a program draws with Python's ``random``: of whole ones the largest is taken, since what is made of them may be a size, and that is said."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import Call, External, HostFunction, Symbol, Value
from estimator.library.language import domain_of


def settled(condition: Value) -> bool | None:
    """What a comparison with ``random.random()`` gives whatever is drawn; None where the draw decides."""
    match condition:
        case Symbol(test=("<" | "<=" | ">" | ">=" as sign, Symbol(source=External(dotted="random.random")), int() | float() as bound)):
            is_below = True if bound >= 1 else False if bound <= 0 else None
            return is_below if is_below is None or sign.startswith("<") else not is_below
    return None


def _randint(call: Call) -> Value:
    """``random.randint(low, high)``: both ends may be drawn."""
    bounds = [*call.args, *call.kwargs.values()]
    return _largest(call, "randint", range(bounds[0], bounds[1] + 1)) if _are_whole(bounds) and len(bounds) > 1 else _any(call, "randint")


def _randrange(call: Call) -> Value:
    """``random.randrange(stop)`` or ``(start, stop, step)``: what ``range`` of them holds."""
    return _largest(call, "randrange", range(*call.args)) if _are_whole(call.args) and call.args else _any(call, "randrange")


def _are_whole(bounds: Any) -> bool:
    return all(type(bound) is int for bound in bounds)


def _largest(call: Call, name: str, numbers: range) -> Value:
    if len(numbers) == 0:
        return _any(call, name)
    if len(numbers) > 1:
        domain, (first, last) = domain_of(call), sorted((numbers[0], numbers[-1]))
        domain.observed.assumed(f"{domain.here(call.span)}: a number from {first} to {last} is drawn, the largest is taken")
    return max(numbers[0], numbers[-1])


def _any(call: Call, name: str) -> Value:
    return Symbol(f"random.{name}(…)", call.span, call.machine.stamp)


NAMES: dict[str, Any] = {f"random.{name}": HostFunction(f"random.{name}", run) for name, run in (("randint", _randint), ("randrange", _randrange))}
