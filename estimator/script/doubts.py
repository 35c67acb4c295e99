"""What was not followed: kept as symbols that know what they come from, so that the cause is said once and not what follows from it."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from analysis.interpreter.values import External, StopRun, Symbol, Value
from estimator.script.words import call_in_words, in_words
from estimator.tape.not_followed import NotFollowed
from estimator.tape.tensor import Tensor

if TYPE_CHECKING:
    from analysis.certainty import Place
    from analysis.source import Span
    from estimator.script.domain import TapeDomain

#: Role of a symbol that stands for what was lost: what comes of it is not reported again.
LOST = "lost"
#: Role of a symbol that is a number, whatever its value.
NUMBER = "number"
#: First item of the ``test`` of a symbol that comes of another; the second is that one.
OF = "of"
#: Longer chains of what comes of what are not walked.
_LONGEST_CHAIN = 64
_ARITHMETIC = frozenset(
    {
        operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, operator.floordiv,
        operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow, operator.lt, operator.le, operator.gt, operator.ge,
    }
)  # fmt: skip


def holds_device_tensor(value: Any, depth: int = 3) -> bool:
    """Whether a value is, or holds, a tensor on the device."""
    if isinstance(value, Tensor):
        return value.device.counted
    if depth and isinstance(value, (list, tuple, dict)):
        return any(holds_device_tensor(item, depth - 1) for item in (value.values() if isinstance(value, dict) else value))
    return False


def attribute(owner: Symbol, name: str) -> Value:
    """An attribute of something unknown, the same one every time; it remembers whose it is."""
    part = owner.part(f".{name}", f"{in_words(owner)}.{name}")
    if isinstance(part, Symbol) and not part.test:
        part.test = (f".{name}", owner)
        part.role = owner.role if owner.role == LOST else part.role
    return part


def call_of(domain: TapeDomain, callee: Value, span: Span) -> Symbol:
    """What a call that was not followed gives."""
    made = Symbol(call_in_words(callee), span, domain.machine.stamp)
    made.test, made.role = (OF, callee), LOST if is_lost(callee) else ""
    return made


def lost(why: str, span: Span, source: Value) -> Symbol:
    """What stands for something lost, which comes of ``source``."""
    symbol = Symbol(why, span)
    symbol.role = LOST
    symbol.test = (OF, source)
    return symbol


def branch(domain: TapeDomain, condition: Value, span: Span) -> None:
    """A condition inside a model that is not known: which way it goes may change what is kept."""
    if is_lost(condition) or (isinstance(condition, Symbol) and condition.test and condition.test[0] == "is"):
        return  # said already; or asked only whether something is there, which says itself where it is used
    asked = f"which way the model goes here depends on {in_words(condition)}, which is not known; taken as false"
    domain.observed.unknowns[f"{domain.here(span)}: {asked} (--set NAME=VALUE sets a script argument or global)"] = None


def swallowed(domain: TapeDomain, callee: Value, span: Span) -> Symbol:
    """A tensor went into something that was not followed."""
    given = lost(call_in_words(callee), span, callee)
    if not is_lost(callee):
        here, source = domain.here(span), library_behind(domain, callee)
        if source is None or source[0] == here:
            _because(domain, given, f"{here}: what {in_words(callee)} does with the tensors it is given is not known")
        else:
            _because(domain, given, f"{source[0]}: {source[1]} is not modelled yet, and the tensors of {here} go through it")
    return given


def library_behind(domain: TapeDomain, value: Value) -> tuple[Place | None, str] | None:
    """The name of a library that an unknown value comes of, and the line on which it was called."""
    root = next(reversed(list(chain(value))), None)
    if root is None or root.span is None or len(root.test) != 2 or not isinstance(root.test[1], External):  # noqa: PLR2004  (how, whence)
        return None
    return domain.here(root.span), root.test[1].dotted


def _because(domain: TapeDomain, symbol: Symbol, sentence: str) -> None:
    domain.causes[id(symbol)] = (symbol, sentence)
    domain.doubt(sentence)


def chain(value: Value) -> Iterator[Symbol]:
    """``value`` and what it comes of, one after another."""
    for _ in range(_LONGEST_CHAIN):
        if not isinstance(value, Symbol):
            return
        yield value
        match value.test:
            case (str(how), source) if how == OF or how.startswith("."):
                value = source
            case _:
                return


def cause_of(domain: TapeDomain, value: Value) -> str | None:
    """The sentence in which the loss that ``value`` comes of was reported."""
    return next((domain.causes[id(symbol)][1] for symbol in chain(value) if id(symbol) in domain.causes), None)


def backward_of(domain: TapeDomain, callee: Value, span: Span) -> None:
    """``backward`` of something unknown: what it would free and keep is not known, and nothing is to be learnt from the rest of the run."""
    if not (isinstance(callee, Symbol) and callee.test and callee.test[0] == ".backward"):
        return
    cause = cause_of(domain, callee)
    if cause is None:
        here, source = domain.here(span), library_behind(domain, callee)
        cause = f"{here}: backward runs on {in_words(callee.test[1])}, which is not known"
        if source is not None:
            cause = f"{source[0]}: {source[1]} is not modelled yet, and backward runs on what comes of it ({here})"
    domain.observed.unknowns.pop(cause, None)
    domain.lose(cause)
    raise StopRun


def arrived(domain: TapeDomain, name: str, value: Symbol) -> None:
    """A model is given something unknown."""
    cause = cause_of(domain, value)
    if value.role != LOST or cause is not None:
        domain.observed.unknowns.pop(cause or "", None)
        what = f"{in_words(value)}, whose shape is not known"
        domain.lose(cause or f"{domain.here(domain.machine.span)}: the model {name} is given {what}: give its data a shape, or set it with --set NAME=VALUE")
    value.role = LOST


def failed(domain: TapeDomain, callee: Value, error: Exception, span: Span, operands: Sequence[Value]) -> Value:
    """Host code refused its operands: with a number in the place of an unknown one it may not."""
    unknown = _unknown_operand(error, operands)
    if unknown is not None and not is_lost(unknown) and any(callee is each for each in _ARITHMETIC):
        try:
            result = callee(*(1.0 if isinstance(value, Symbol) else value for value in operands))
        except (NotFollowed, TypeError):
            pass
        else:
            if unknown.role != NUMBER:
                domain.observed.unknowns[f"{domain.here(span)}: {in_words(unknown)} is not known, taken as a number"] = None
            return result
    given = lost(f"what {_name_of(callee)} gives", span, unknown if unknown is not None else callee)
    if unknown is None or not is_lost(unknown):
        _because(domain, given, f"{domain.here(span)}: {_reason(callee, error, unknown)}")
    return given


def _reason(callee: Value, error: Exception, unknown: Symbol | None) -> str:
    if unknown is not None:
        return f"{in_words(unknown)} is not known, and {_name_of(callee)} is computed from it"
    if isinstance(error, NotFollowed):
        return f"{error.name} is not followed"
    return f"there is no {error.args[0]!r:.60} here, as far as it was followed" if isinstance(error, KeyError) else f"{_name_of(callee)} cannot be worked out here"


def _unknown_operand(error: Exception, operands: Sequence[Value]) -> Symbol | None:
    found = list(_symbols_in(operands))
    culprit = getattr(error, "obj", None)
    if isinstance(culprit, Symbol):
        found.append(culprit)
    return next((symbol for symbol in found if is_lost(symbol)), found[0] if found else None)


def _symbols_in(values: Sequence[Value], depth: int = 2) -> Iterator[Symbol]:
    for value in values:
        if isinstance(value, Symbol):
            yield value
        elif depth and isinstance(value, (list, tuple)):
            yield from _symbols_in(value, depth - 1)


def is_lost(value: Value) -> bool:
    """Whether a value comes of something that was reported as lost."""
    match value:
        case Symbol():
            return value.role == LOST or any(is_lost(part) for part in value.test)
        case list() | tuple():
            return any(is_lost(item) for item in value)
    return False


def _name_of(callee: Value) -> str:
    """An operation as PyTorch's users call it."""
    if isinstance(callee, str):
        return callee
    if isinstance(callee, External):
        return callee.dotted
    name = getattr(callee, "name", None) or getattr(callee, "__name__", "")
    return name if isinstance(name, str) and name.isidentifier() else "a value"
