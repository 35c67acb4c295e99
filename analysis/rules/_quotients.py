"""Means whose sum was taken over all ranks and whose count was not. Shared by rules, and no rule itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.interpreter.values import Alternatives, Symbol, Value
from analysis.library.tensor import Scalar, Tensor
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Kind

_DEPTH, _MOST = 24, 2_000
_REDUCED = frozenset({"all_reduce", "reduce"})
#: Operations that leave a sum a sum.
_KEEPS = frozenset({"item", "float", "double", "to", "cpu", "cuda", "detach", "data", "getitem", "squeeze", "view", "clone"})


@dataclass(frozen=True, slots=True)
class Quotient:
    """``at``: the division; ``summed``: where the ranks added up their sums; ``counted``: where this rank's count was last added to."""

    at: Span
    summed: Span
    counted: Span


def divided_by_own_count(trace: Trace) -> Iterator[Quotient]:
    """Quotients that the program returns, prints or logs, of a sum over the ranks and a count of this rank alone."""
    means = {event.span for event in trace.events(Kind.COLLECTIVE) if _is_mean(event.detail)}
    shown = [trace.result, *(event.value for event in trace.events(Kind.LOG, Kind.PRINT))]
    for at, above, below in _divisions(shown):
        summed = _summed(above)
        counted = _counted(below)
        if summed is not None and counted is not None and summed not in means:
            yield Quotient(at, summed, counted)


def _is_mean(detail: Value) -> bool:
    asked = detail.get("op") if isinstance(detail, dict) else None
    return str(getattr(asked, "dotted", "")).rpartition(".")[2] == "AVG"


def _divisions(shown: list[Value]) -> Iterator[tuple[Span, Value, Value]]:
    todo: list[Value] = list(shown)
    seen: set[int] = set()
    while todo and len(seen) < _MOST:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case Symbol(test=("/", above, below), span=Span() as at):
                yield at, above, below
                todo.append(above)
            case Symbol(test=test):
                todo.extend(test[1:])
            case Tensor(made=made) if made is not None:
                if made.op in {"truediv", "div"} and len(made.inputs) > 1:
                    yield made.span, made.inputs[0], made.inputs[1]
                todo.extend(made.inputs)
            case dict():
                todo.extend(value.values())
            case list() | tuple() | set():
                todo.extend(value)
            case Alternatives(values=values):
                todo.extend(values)


def _summed(value: Value, depth: int = _DEPTH) -> Span | None:
    """Where the ranks added up what goes into ``value`` by sums alone."""
    match value:
        case Scalar(tensor=tensor) if depth:
            return _summed(tensor, depth - 1)
        case Symbol(test=("+", *parts)) if depth:
            return next((found for part in parts if (found := _summed(part, depth - 1)) is not None), None)
        case Tensor(made=made) if made is not None and depth:
            if made.op in _REDUCED:
                return made.span
            inputs = made.inputs if made.op == "add" else made.inputs[:1] if made.op in _KEEPS else ()
            return next((found for part in inputs if (found := _summed(part, depth - 1)) is not None), None)
        case Alternatives(values=values) if depth:
            return next((found for part in values if (found := _summed(part, depth - 1)) is not None), None)
    return None


def _counted(value: Value) -> Span | None:
    """Where an unknown number was added to a count that no rank has told another."""
    if not isinstance(value, Symbol) or not value.test or value.test[0] != "+":
        return None
    todo, grows, left = [value], False, _MOST
    while todo and left:
        each, left = todo.pop(), left - 1
        if isinstance(each, (Scalar, Tensor, Alternatives)):
            return None
        if isinstance(each, Symbol):
            grows = grows or not each.test
            if each.test and each.test[0] not in {"+", "int()", "float()"}:
                return None
            todo.extend(part for part in each.test[1:] if part is not None)
    return value.span if grows else None
