"""Operators and truth: what Python computes on host values is Python's; a symbol makes the result a symbol.

Such a symbol remembers the operation, so that the same condition asked twice is the same condition.
"""

from __future__ import annotations

import ast
import operator
from itertools import islice
from typing import TYPE_CHECKING, Any

from analysis.certainty import MAX_ALTERNATIVES
from analysis.interpreter import absence
from analysis.interpreter.affordable import operator_is_too_large
from analysis.interpreter.classes import member_name, plain_member
from analysis.interpreter.derivation import derived, varies
from analysis.interpreter.joins import join
from analysis.interpreter.own_items import OwnItems, has_items
from analysis.interpreter.reflection import is_type
from analysis.interpreter.values import MISSING, Alternatives, Class, External, FewItems, Function, GuestList, HostValue, Instance, Module, Symbol, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from analysis.interpreter.machine import Machine
    from analysis.source import Span

_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_KEYED: Any = (dict, set, frozenset, *_VIEWS)
_EQUALITY = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)
_CONTAINERS: Any = (str, bytes, list, tuple, range, *_KEYED)
#: Items of a collection that are looked at for symbols among them.
_WIDTH = 64
#: Operator of the syntax → (function, in-place function, special method, sign).
OPERATORS: dict[type[ast.operator], tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any], str, str]] = {
    ast.Add: (operator.add, operator.iadd, "add", "+"), ast.Sub: (operator.sub, operator.isub, "sub", "-"),
    ast.Mult: (operator.mul, operator.imul, "mul", "*"), ast.Div: (operator.truediv, operator.itruediv, "truediv", "/"),
    ast.FloorDiv: (operator.floordiv, operator.ifloordiv, "floordiv", "//"), ast.Mod: (operator.mod, operator.imod, "mod", "%"),
    ast.Pow: (operator.pow, operator.ipow, "pow", "**"), ast.MatMult: (operator.matmul, operator.imatmul, "matmul", "@"),
    ast.BitAnd: (operator.and_, operator.iand, "and", "&"), ast.BitOr: (operator.or_, operator.ior, "or", "|"),
    ast.BitXor: (operator.xor, operator.ixor, "xor", "^"), ast.LShift: (operator.lshift, operator.ilshift, "lshift", "<<"),
    ast.RShift: (operator.rshift, operator.irshift, "rshift", ">>"),
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], tuple[Callable[[Any, Any], Any], str, str]] = {
    ast.Eq: (operator.eq, "eq", "=="), ast.NotEq: (operator.ne, "ne", "!="), ast.Lt: (operator.lt, "lt", "<"),
    ast.LtE: (operator.le, "le", "<="), ast.Gt: (operator.gt, "gt", ">"), ast.GtE: (operator.ge, "ge", ">="),
}  # fmt: skip
UNARY: dict[type[ast.unaryop], tuple[Callable[[Any], Any], str]] = {
    ast.USub: (operator.neg, "neg"), ast.UAdd: (operator.pos, "pos"), ast.Invert: (operator.invert, "invert"),
}  # fmt: skip


def truth(machine: Machine, value: Value, span: Span) -> bool | None:
    """Whether ``value`` counts as true; None if it is undecided and both sides are to be run."""
    match value:
        case bool():
            return value
        case Symbol():
            if value.test and value.test[0] == "not":
                machine.negated = not machine.negated
                inner = truth(machine, value.test[1], span)
                machine.negated = not machine.negated
                if inner is None and span in machine.divisions:
                    _, zero, others = machine.divisions[span]
                    machine.divisions[span] = value, None if zero is None else not zero, None if others is None else not others
                return None if inner is None else not inner
            return machine.domain.decide(machine, value, span)
        case Alternatives(values=values):
            decided = {truth(machine, each, span) for each in values}
            return decided.pop() if len(decided) == 1 else machine.domain.decide(machine, value, span)
        case Instance():
            for name in ("__bool__", "__len__"):
                if value.cls.find(name) is not MISSING:
                    result = machine.call(machine.getattr(value, name, span), [], {}, span)
                    return truth(machine, result if isinstance(result, (int, Symbol, Alternatives)) else True, span)
            return True
        case Function() | Class() | Module() | External():
            return True
        case OwnItems():
            return machine.domain.decide(machine, has_items(value), span)
    try:
        answer = bool(value)
    except Exception as error:  # noqa: BLE001  a domain's value may refuse: its answer decides
        return truth(machine, machine.domain.host_failed(machine, bool, error, span), span)
    return answer


def negation(machine: Machine, value: Value, span: Span) -> Value:
    """``not value``."""
    value = has_items(value) if isinstance(value, OwnItems) else value
    decided = value if isinstance(value, bool) else None
    if decided is None and not isinstance(value, (Symbol, Alternatives)):
        decided = machine.truth(value, span)
    if decided is not None:
        return not decided
    if isinstance(value, Symbol) and value.test and value.test[0] == "not":
        return value.test[1]
    return derived(machine, "not", f"not {value!r}", value, test=("not", value))


def binary(machine: Machine, op: ast.operator, left: Value, right: Value, span: Span, *, in_place: bool = False) -> Value:
    """``left op right`` (or ``left op= right``)."""
    plain, in_place_function, method, sign = OPERATORS[type(op)]
    machine.span = span
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _number(machine, op, left, right, span)
    if isinstance(left, HostValue) or isinstance(right, HostValue):
        machine.domain.before_call(machine, span)
        return host_operator(machine, in_place_function if in_place else plain, left, right, span)
    if isinstance(left, Alternatives) or isinstance(right, Alternatives):
        return _each_alternative(machine, op, left, right, span)
    if isinstance(left, Instance) or isinstance(right, Instance):
        return _special(machine, method, sign, left, right, span, in_place=in_place)
    if isinstance(left, (Symbol, External)) or isinstance(right, (Symbol, External)):
        if isinstance(op, ast.Mult) and isinstance(left, list) and len(left) == 1 and left[0] is None:
            return _places(machine, span)
        replaced = machine.domain.modulo(machine, left, right, span) if isinstance(op, ast.Mod) and isinstance(left, (int, Symbol)) else MISSING
        return derived(machine, sign, f"{left!r} {sign} {right!r}", left, right, test=(sign, left, right)) if replaced is MISSING else replaced
    if in_place and isinstance(left, list):
        machine.heap.touch(left)
        items = machine.whole(right, span)
        left.extend(machine.domain.stored(machine, left, None, item, span) if machine.domain.watches_stores else item for item in items)
        return left
    if operator_is_too_large(op, left, right):
        return derived(machine, sign, "a very large value", left, right)
    if isinstance(left, str) and isinstance(right, tuple) and any(isinstance(value, (Symbol, Alternatives, External)) for value in right):
        return derived(machine, sign, "a formatted text", left, *right)
    return _wrap(machine, host_operator(machine, plain, left, right, span), span)


def _places(machine: Machine, span: Span) -> FewItems:
    """``[None] * n``, where ``n`` is not known: places for what comes later."""
    made = FewItems([None])
    made.span, made.stamp = span, machine.stamp
    return made


def _number(machine: Machine, op: ast.operator, left: Value, right: Value, span: Span) -> Value:
    if isinstance(op, ast.Mod) and isinstance(left, int) and isinstance(right, int):
        replaced = machine.domain.modulo(machine, left, right, span)
        if replaced is not MISSING:
            return replaced
    if operator_is_too_large(op, left, right):
        return derived(machine, "large", "a very large number", left, right)
    return host_operator(machine, OPERATORS[type(op)][0], left, right, span)


def host_operator(machine: Machine, function: Callable[[Any, Any], Any], left: Value, right: Value, span: Span) -> Value:
    """An operator of the host on two operands."""
    try:
        return function(left, right)
    except Exception as error:  # noqa: BLE001  the guest's error or a gap of the domain: one place decides
        machine.refused = (left, right)
        return machine.domain.host_failed(machine, function, error, span)


def _wrap(machine: Machine, value: Value, span: Span) -> Value:
    if type(value) is list:
        made = GuestList(value)
        made.span, made.stamp = span, machine.stamp
        return made
    return value


def _each_alternative(machine: Machine, op: ast.operator, left: Value, right: Value, span: Span) -> Value:
    lefts = left.values if isinstance(left, Alternatives) else (left,)
    rights = right.values if isinstance(right, Alternatives) else (right,)
    if len(lefts) * len(rights) > MAX_ALTERNATIVES:
        return derived(machine, "op", "one of many values", left, right)
    results = [binary(machine, op, a, b, span) for a in lefts for b in rights]
    value = results[0]
    for other in results[1:]:
        value = join(value, other, divided=varies(left) or varies(right))
    return value


def _special(machine: Machine, method: str, sign: str, left: Value, right: Value, span: Span, *, in_place: bool) -> Value:
    names = [(left, f"__i{method}__", right)] if in_place else []
    names += [(left, f"__{method}__", right), (right, f"__r{method}__", left)]
    for receiver, name, other in names:
        if isinstance(receiver, Instance) and receiver.cls.find(name) is not MISSING:
            return machine.call(machine.getattr(receiver, name, span), [other], {}, span)
    return derived(machine, sign, f"{left!r} {sign} {right!r}", left, right)


def compare(machine: Machine, op: ast.cmpop, left: Value, right: Value, span: Span) -> Value:
    """One comparison."""
    if isinstance(left, type) != isinstance(right, type) and isinstance(op, _EQUALITY):
        kind, named = (left, right) if isinstance(left, type) else (right, left)
        if not isinstance(named, (Symbol, Alternatives)):
            return is_type(kind, named) == isinstance(op, (ast.Is, ast.Eq))
    match op:
        case ast.Is() | ast.IsNot():
            same = _identical(left, right)
            if same is None:
                condition = derived(machine, "is", f"{left!r} is {right!r}", left, right, test=("is", left, right))
                condition.rank_varying = condition.rank_varying and (right is not None or absence.differs(left))
                return condition if isinstance(op, ast.Is) else negation(machine, condition, span)
            return same == isinstance(op, ast.Is)
        case ast.In() | ast.NotIn():
            inside = _contains(machine, right, left, span)
            return inside if isinstance(op, ast.In) else negation(machine, inside, span)
    left, right = plain_member(left, right), plain_member(right, left)
    function, method, sign = _COMPARISONS[type(op)]
    if machine.stamp and isinstance(left, int) and isinstance(right, int):
        left, right = machine.domain.threshold(machine, left, right, span, by_size=method not in {"eq", "ne"})
    if isinstance(left, HostValue) or isinstance(right, HostValue):
        machine.domain.before_call(machine, span)
        return host_operator(machine, function, left, right, span)
    if isinstance(left, Instance) and left.cls.find(f"__{method}__") is not MISSING:
        return machine.call(machine.getattr(left, f"__{method}__", span), [right], {}, span)
    if isinstance(left, (Symbol, Alternatives, External)) or isinstance(right, (Symbol, Alternatives, External)):
        if isinstance(left, External) and isinstance(right, External):
            return (left == right) == (method == "eq") if method in {"eq", "ne"} else derived(machine, sign, f"{left!r} {sign} {right!r}", left, right)
        if method == "ne":
            return negation(machine, compare(machine, ast.Eq(), left, right, span), span)
        if isinstance(left, Alternatives) or isinstance(right, Alternatives):
            return _compare_alternatives(machine, op, left, right, span)
        return derived(machine, sign, f"{left!r} {sign} {right!r}", left, right, test=(sign, left, right))
    return host_operator(machine, function, left, right, span)


def _compare_alternatives(machine: Machine, op: ast.cmpop, left: Value, right: Value, span: Span) -> Value:
    lefts = left.values if isinstance(left, Alternatives) else (left,)
    rights = right.values if isinstance(right, Alternatives) else (right,)
    if _is_counted_apart(left, right):
        return derived(machine, _COMPARISONS[type(op)][2], "whether this rank has counted so far", left, right)
    results = [compare(machine, op, a, b, span) for a in lefts for b in rights]
    value = results[0]
    for other in results[1:]:
        value = join(value, other, divided=varies(left) or varies(right))
    return value


def _is_counted_apart(left: Value, right: Value) -> bool:
    """Whether ranks have counted differently, and none up to where the count is compared: epochs that are not rehearsed would."""
    if not isinstance(left, Alternatives) or not left.rank_varying or type(right) is not int:
        return False
    return all(type(each) is int and 0 <= each < right for each in left.values)


def _identical(left: Value, right: Value) -> bool | None:
    if isinstance(left, Alternatives) or isinstance(right, Alternatives):
        return None
    if right is None and absence.is_computed(left):
        return False
    if isinstance(left, Symbol) and isinstance(right, Symbol):
        return True if left is right else None
    if isinstance(left, Symbol) or isinstance(right, Symbol):
        return None
    if left is right:
        return True
    return bool(isinstance(left, (int, str, External)) and type(left) is type(right) and left == right)


def _contains(machine: Machine, container: Value, item: Value, span: Span) -> Value:
    if isinstance(container, Instance) and container.cls.find("__contains__") is not MISSING:
        return machine.call(machine.getattr(container, "__contains__", span), [item], {}, span)
    if isinstance(container, _KEYED) and isinstance(item, (str, int)) and item in container:
        return True
    if isinstance(container, _CONTAINERS) and not isinstance(item, (Symbol, Alternatives)):
        if not isinstance(container, (str, bytes)) and any(isinstance(each, (Symbol, Alternatives)) for each in islice(container, _WIDTH)):
            return True if any(each is item for each in container) else derived(machine, "in", f"{item!r} in a collection", item, container)
        if not isinstance(container, (str, bytes)) and any(member_name(each) for each in (item, *islice(container, _WIDTH))):
            return any(plain_member(each, item) == plain_member(item, each) for each in container)
        return host_operator(machine, lambda box, each: each in box, container, item, span)
    asked = derived(machine, "in", f"{item!r} in {container!r:.40}", item, container, test=("in", item, container))
    if isinstance(item, str):  # a name that is written in the program: contents differ between ranks, what they are called does not
        asked.rank_varying = False
    return asked
