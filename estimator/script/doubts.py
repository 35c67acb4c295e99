"""What was not followed, said to a person: the line, what is missing there and what helps; the cause only, not what follows from it."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from analysis.interpreter.values import Alternatives, Class, External, Function, HostFunction, Instance, Symbol, Value
from estimator.tape.not_followed import NotFollowed
from estimator.tape.tensor import Tensor

if TYPE_CHECKING:
    from analysis.source import Span
    from estimator.script.domain import TapeDomain

#: Role of a symbol that stands for what was lost: what comes of it is not reported again.
LOST = "lost"
#: Role of a symbol that is a number, whatever its value.
NUMBER = "number"
_LONGEST = 90
_ARITHMETIC = frozenset(
    {
        operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, operator.floordiv,
        operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow, operator.lt, operator.le, operator.gt, operator.ge,
    }
)  # fmt: skip


def in_words(value: Value) -> str:
    """A value as a reader would call it."""
    match value:
        case Symbol(why=why):
            words = why
        case External(dotted=dotted) | Class(dotted=dotted):
            words = dotted
        case HostFunction(name=name) | Function(qualname=name):
            words = name
        case Instance():
            words = f"an object of {value.cls.name}"
        case Alternatives():
            words = "one of several values"
        case _:
            words = repr(value)
    plain = _without_marks(words)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"


def _without_marks(words: str) -> str:
    """``<item 0 of <x>>`` → ``item 0 of x``."""
    for _ in range(8):
        bare = re.sub(r"<([^<>]*)>", r"\1", words)
        if bare == words:
            return bare
        words = bare
    return words


def call_in_words(callee: Value) -> str:
    """What a call that was not followed gives."""
    return f"{in_words(callee)}(…)"


def holds_device_tensor(value: Any, depth: int = 3) -> bool:
    """Whether a value is, or holds, a tensor on the device."""
    return any(tensor.device.counted for tensor in tensors_in(value, depth))


def tensors_in(value: Any, depth: int = 3) -> Iterator[Tensor]:
    """The tensors that a value is or holds."""
    if isinstance(value, Tensor):
        yield value
    elif depth and isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(item, depth - 1)


def attribute(owner: Symbol, name: str) -> Value:
    """An attribute of something unknown, the same one every time; it remembers whose it is."""
    part = owner.part(f".{name}", f"{in_words(owner)}.{name}")
    if isinstance(part, Symbol) and not part.test:
        part.test = (f".{name}", owner)
        part.role = owner.role if owner.role == LOST else part.role
    return part


def lost(why: str, span: Span, stamp: Any) -> Symbol:
    """What stands for something lost."""
    symbol = Symbol(why, span, stamp)
    symbol.role = LOST
    return symbol


def branch(domain: TapeDomain, condition: Value, span: Span) -> None:
    """A condition inside a model that is not known: which way it goes may change what is kept."""
    if _lost_in(condition):
        return
    if isinstance(condition, Symbol) and condition.test and condition.test[0] == "is":
        return  # asked only whether something is there; that it is unknown says itself where it is used
    asked = f"{domain.here(span)}: which way the model goes here depends on {in_words(condition)}, which is not known; taken as false"
    domain.observed.unknowns[f"{asked}. Set it with --set NAME=VALUE"] = None


def swallowed(domain: TapeDomain, callee: Value, span: Span) -> Symbol:
    """A tensor went into something that was not followed."""
    if not _lost_in(callee):
        domain.doubt(f"{domain.here(span)}: what {in_words(callee)} does with the tensors it is given is not known")
    return lost(call_in_words(callee), span, domain.machine.stamp)


def backward_of(domain: TapeDomain, callee: Value, span: Span) -> None:
    """``backward`` of something unknown: what it would free and keep is not known."""
    if isinstance(callee, Symbol) and callee.test and callee.test[0] == ".backward":
        domain.lose(f"{domain.here(span)}: backward runs on {in_words(callee.test[1])}, and what that was computed from is not known")


def failed(domain: TapeDomain, callee: Value, error: Exception, span: Span, operands: Sequence[Value]) -> Value:
    """Host code refused its operands: with a number in the place of an unknown one it may not."""
    unknown = _unknown_operand(error, operands)
    if _is_arithmetic(callee) and unknown is not None and unknown.role != LOST:
        numbers = [1.0 if isinstance(value, Symbol) else value for value in operands]
        try:
            result = callee(*numbers)
        except (NotFollowed, TypeError):
            pass
        else:
            if unknown.role != NUMBER:
                domain.observed.unknowns[f"{domain.here(span)}: {in_words(unknown)} is not known, taken as a number"] = None
            return result
    name = _name_of(callee)
    if not any(_lost_in(value) for value in operands) and not (unknown is not None and unknown.role == LOST):
        domain.doubt(f"{domain.here(span)}: {_reason(name, error, unknown)}")
    return lost(f"the result of {name}", span, domain.machine.stamp)


def _is_arithmetic(callee: Value) -> bool:
    return any(callee is each for each in _ARITHMETIC)


def _reason(name: str, error: Exception, unknown: Symbol | None) -> str:
    if unknown is not None:
        return f"{name} is given {in_words(unknown)}, which is not known"
    return f"{error.name} is not followed" if isinstance(error, NotFollowed) else f"{name} cannot be worked out"


def _unknown_operand(error: Exception, operands: Sequence[Value]) -> Symbol | None:
    found = next(_symbols_in(operands), None)
    culprit = getattr(error, "obj", None)
    return culprit if found is None and isinstance(culprit, Symbol) else found


def _symbols_in(values: Sequence[Value], depth: int = 2) -> Iterator[Symbol]:
    for value in values:
        if isinstance(value, Symbol):
            yield value
        elif depth and isinstance(value, (list, tuple)):
            yield from _symbols_in(value, depth - 1)


def _lost_in(value: Value) -> bool:
    """Whether a value comes of something that was reported as lost."""
    match value:
        case Symbol():
            return value.role == LOST or any(_lost_in(part) for part in value.test)
        case list() | tuple():
            return any(_lost_in(item) for item in value)
    return False


def _name_of(callee: Value) -> str:
    name = getattr(callee, "name", None) or getattr(callee, "__name__", None)
    if isinstance(callee, str):
        name = callee
    return str(name or type(callee).__name__).removeprefix("Guest").lower() if not isinstance(name, str) else name
