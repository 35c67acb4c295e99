"""Symbols for operations on what is not known: the same operands give the same symbol, so that a condition asked twice is one condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.interpreter.classes import member_name
from analysis.interpreter.values import Alternatives, HostValue, Instance, Symbol, Value

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine


def derived(machine: Machine, key: str, why: str, *operands: Value, test: tuple[Value, ...] = ()) -> Symbol:
    """The symbol for an operation on ``operands``, at least one of which is not known; the same one for the same operands."""
    source = next((value for value in operands if isinstance(value, Symbol)), None)
    name = "" if source is None else _part_name(key, operands, source)
    if source is not None and name and name in source.parts:
        return source.parts[name]  # type: ignore[no-any-return]  # parts under operator keys are symbols
    stamps = [value.stamp for value in operands if isinstance(value, Symbol)]
    others = any(isinstance(value, (HostValue, Instance, Alternatives)) and not member_name(value) for value in operands)
    stamp = machine.stamp if others else max(stamps, key=len, default=())
    symbol = Symbol(why, machine.span, stamp, rank_varying=any(varies(value) for value in operands))
    symbol.test, symbol.source = test, source
    if source is not None and name:
        source.parts[name] = symbol
    return symbol


def _part_name(key: str, operands: tuple[Value, ...], source: Symbol) -> str:
    """Under which ``source`` keeps the symbol for an operation; "" if one of its operands is nothing that is the same the next time."""
    names: list[str] = []
    for value in operands:
        if value is source:
            names.append("•")
        elif isinstance(value, Symbol):
            names.append(str(id(value)))
        elif isinstance(value, (int, float, str)) or value is None:
            names.append(repr(value))
        elif member := member_name(value):
            names.append(member)
        else:
            return ""
    return f"{key}({', '.join(names)})"


def varies(value: Value) -> bool:
    """Whether ranks may hold different values."""
    return bool(getattr(value, "rank_varying", False))
