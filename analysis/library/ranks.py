"""What a value is on each rank: the rank itself and what is computed from it, as far as nothing else goes in."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from analysis.interpreter.values import MISSING, Alternatives, Symbol, Value

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

#: Ranks in the distributed world: any number above one shows the same.
WORLD_SIZE = 2
#: The role of the symbol that stands for the process's own number.
RANK = "rank"
_NAMES = frozenset({"rank", "local_rank", "global_rank", "world_rank", "process_index"})
_COMPARED = ("==(", "<(", "<=(", ">(", ">=(", "in(")

_DEPTH = 12
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "+": operator.add, "-": operator.sub,
    "*": operator.mul, "//": operator.floordiv, "%": operator.mod, "&": operator.and_, "|": operator.or_,
    "is": lambda a, b: a is b if None in (a, b) else a == b,
}  # fmt: skip


def own_rank(machine: Machine) -> Value:
    """The process's own number: one symbol that differs between ranks, or 0 when alone."""
    is_distributed = machine.state.get("distributed")
    if is_distributed is None or not is_distributed():
        return 0
    known: Value = machine.state.get(RANK)
    if known is None:
        known = machine.state[RANK] = Symbol("the rank", None, (), rank_varying=True)
        known.role = RANK
    return known


#: What is noted of a symbol that is handed over as the process's own rank.
RANK_USE = "→rank"


def is_rank(symbol: Symbol) -> bool:
    """Whether an argument is called a rank and compared with something as one is, or is given to the process group as the rank."""
    if RANK_USE in symbol.uses:
        return True
    return symbol.why.rpartition(".")[2] in _NAMES and any(isinstance(key, str) and key.startswith(_COMPARED) for key in symbol.parts)


#: Calls that put texts together.
_TEXTS = frozenset({"format", "join", "replace"})


def answers(condition: Value) -> tuple[bool | None, bool | None]:
    """What rank 0 answers, and what the others do; None where it depends on more than the rank."""
    if _is_text(condition):
        return True, True  # a name with the rank in it is another one on each rank, and empty on none
    found = [value_on(condition, rank) for rank in range(WORLD_SIZE)]
    zero, others = (None if each is MISSING else bool(each) for each in found)
    return zero, others


def _is_text(value: Value) -> bool:
    return isinstance(value, Symbol) and (value.test[:1] == ("text",) or value.why.partition("(")[0] in _TEXTS)


def asks_for_rank(value: Value, depth: int = _DEPTH) -> bool:
    """Whether the rank itself goes into a value that differs between ranks; otherwise it is their data."""
    match value:
        case Symbol(role="rank"):
            return True
        case Symbol(test=test) if depth:
            return any(asks_for_rank(part, depth - 1) for part in test[1:])
    return False


def value_on(value: Value, rank: int, depth: int = _DEPTH) -> Value:
    """The value that process ``rank`` has, or ``MISSING``."""
    match value:
        case None | bool() | int() | str() | float():
            return value
        case tuple() | list() | set() | frozenset():
            items = [value_on(each, rank, depth - 1) for each in value] if depth else [MISSING]
            return MISSING if any(each is MISSING for each in items) else items
        case Symbol(role="rank"):
            return rank
        case Symbol(test=(operation, *operands)) if depth:
            return _applied(operation, [value_on(each, rank, depth - 1) for each in operands])
        case Alternatives():
            return MISSING
    return MISSING


def _applied(operation: str, operands: list[Value]) -> Value:
    match operation, operands:
        case "not", [inner]:
            return MISSING if inner is MISSING else not inner
        case "int()" | "float()" | "round()", [inner]:
            return inner
        case "and", [left, right]:
            return False if _is_false(left) or _is_false(right) else MISSING if MISSING in (left, right) else right
        case "or", [left, right]:
            return True if _is_true(left) or _is_true(right) else MISSING if MISSING in (left, right) else right
        case "in", [item, list() as container] if item is not MISSING:
            return item in container
        case sign, [left, right] if sign in _OPERATORS and MISSING not in (left, right):
            try:
                return _OPERATORS[sign](left, right)
            except (TypeError, ValueError, ArithmeticError):
                return MISSING
    return MISSING


def _is_false(value: Value) -> bool:
    return value is not MISSING and not value


def _is_true(value: Value) -> bool:
    return value is not MISSING and bool(value)
