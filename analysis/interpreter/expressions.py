"""Expressions: each is a function from a node to its value.

Whatever Python itself can compute on host values is Python's; a symbol makes the result a symbol that remembers
the operation, so that the same condition asked twice is the same condition.
"""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

from analysis.interpreter import branches, calls, comprehensions, generators
from analysis.interpreter.closures import make_function
from analysis.interpreter.values import (
    MISSING,
    Alternatives,
    Class,
    External,
    Function,
    GuestDict,
    GuestList,
    GuestSet,
    HostValue,
    Instance,
    Module,
    Symbol,
    Value,
    join,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine
    from analysis.source import Span

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
_UNARY: dict[type[ast.unaryop], tuple[Callable[[Any], Any], str]] = {
    ast.USub: (operator.neg, "neg"), ast.UAdd: (operator.pos, "pos"), ast.Invert: (operator.invert, "invert"),
}  # fmt: skip
#: Larger powers, shifts and repetitions are not computed: the result would be useless and huge.
_MAX_HOST_SIZE = 1 << 20


def evaluate(machine: Machine, node: ast.expr, frame: Frame) -> Value:
    """The value of ``node``."""
    return _HANDLERS[type(node)](machine, node, frame)


def truth(machine: Machine, value: Value, span: Span) -> bool | None:
    """Whether ``value`` counts as true; None if it is undecided and both sides are to be run."""
    match value:
        case bool():
            return value
        case Symbol():
            if value.test and value.test[0] == "not":
                inner = truth(machine, value.test[1], span)
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
    try:
        answer = bool(value)
    except Exception as error:  # noqa: BLE001  a domain's value may refuse: its answer decides
        return truth(machine, machine.domain.host_failed(machine, bool, error, span), span)
    return answer


def derived(machine: Machine, key: str, why: str, *operands: Value, test: tuple[Value, ...] = ()) -> Symbol:
    """The symbol for an operation on ``operands``, at least one of which is not known; the same one for the same operands."""
    source = next((value for value in operands if isinstance(value, Symbol)), None)
    plain = all(isinstance(value, (Symbol, int, float, str, bool, type(None))) for value in operands)
    name = f"{key}({', '.join(str(id(v)) if isinstance(v, Symbol) and v is not source else '•' if v is source else repr(v) for v in operands)})"
    if source is not None and plain and name in source.parts:
        return source.parts[name]  # type: ignore[no-any-return]  # parts under operator keys are symbols
    stamps = [value.stamp for value in operands if isinstance(value, Symbol)]
    others = any(isinstance(value, (HostValue, Instance, Alternatives)) for value in operands)
    stamp = machine.stamp if others else max(stamps, key=len, default=())
    symbol = Symbol(why, machine.span, stamp, rank_varying=any(_varies(value) for value in operands))
    symbol.test = test
    if source is not None and plain:
        source.parts[name] = symbol
    return symbol


def _varies(value: Value) -> bool:
    return bool(getattr(value, "rank_varying", False))


def negation(machine: Machine, value: Value, span: Span) -> Value:
    """``not value``."""
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
        return _host(machine, in_place_function if in_place else plain, left, right, span)
    if isinstance(left, Alternatives) or isinstance(right, Alternatives):
        return _each_alternative(machine, op, left, right, span)
    if isinstance(left, Instance) or isinstance(right, Instance):
        return _special(machine, method, sign, left, right, span, in_place=in_place)
    if isinstance(left, (Symbol, External)) or isinstance(right, (Symbol, External)):
        return derived(machine, sign, f"{left!r} {sign} {right!r}", left, right)
    if in_place and isinstance(left, list):
        machine.heap.touch(left)
        items = machine.items(right, span)
        left.extend(machine.domain.stored(machine, left, None, item, span) if machine.domain.watches_stores else item for item in items)
        return left
    if _too_large(op, left, right):
        return derived(machine, sign, "a very large value", left, right)
    return _wrap(machine, _host(machine, plain, left, right, span), span)


def _number(machine: Machine, op: ast.operator, left: Value, right: Value, span: Span) -> Value:
    if isinstance(op, ast.Mod) and isinstance(left, int) and isinstance(right, int):
        replaced = machine.domain.modulo(machine, left, right, span)
        if replaced is not MISSING:
            return replaced
    if _too_large(op, left, right):
        return derived(machine, "large", "a very large number", left, right)
    return _host(machine, OPERATORS[type(op)][0], left, right, span)


def _too_large(op: ast.operator, left: Value, right: Value) -> bool:
    match op, left, right:
        case ast.Pow() | ast.LShift(), int(), int():
            return abs(right) * max(abs(left).bit_length(), 1) > _MAX_HOST_SIZE if isinstance(op, ast.Pow) else right > _MAX_HOST_SIZE
        case ast.Mult(), (str() | bytes() | list() | tuple()), int():
            return len(left) * right > _MAX_HOST_SIZE
        case ast.Mult(), int(), (str() | bytes() | list() | tuple()):
            return len(right) * left > _MAX_HOST_SIZE
    return False


def _host(machine: Machine, function: Callable[[Any, Any], Any], left: Value, right: Value, span: Span) -> Value:
    try:
        return function(left, right)
    except Exception as error:  # noqa: BLE001  the guest's error or a gap of the domain: one place decides
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
    if len(lefts) * len(rights) > 8:
        return derived(machine, "op", "one of many values", left, right)
    results = [binary(machine, op, a, b, span) for a in lefts for b in rights]
    value = results[0]
    for other in results[1:]:
        value = join(value, other)
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
    match op:
        case ast.Is() | ast.IsNot():
            same = _identical(left, right)
            if same is None:
                condition: Value = derived(machine, "is", f"{left!r} is {right!r}", left, right, test=("is", left, right))
                return condition if isinstance(op, ast.Is) else negation(machine, condition, span)
            return same == isinstance(op, ast.Is)
        case ast.In() | ast.NotIn():
            inside = _contains(machine, right, left, span)
            return inside if isinstance(op, ast.In) else negation(machine, inside, span)
    function, method, sign = _COMPARISONS[type(op)]
    if isinstance(left, HostValue) or isinstance(right, HostValue):
        machine.domain.before_call(machine, span)
        return _host(machine, function, left, right, span)
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
    return _host(machine, function, left, right, span)


def _compare_alternatives(machine: Machine, op: ast.cmpop, left: Value, right: Value, span: Span) -> Value:
    lefts = left.values if isinstance(left, Alternatives) else (left,)
    rights = right.values if isinstance(right, Alternatives) else (right,)
    results = [compare(machine, op, a, b, span) for a in lefts for b in rights]
    value = results[0]
    for other in results[1:]:
        value = join(value, other)
    return value


def _identical(left: Value, right: Value) -> bool | None:
    if isinstance(left, Alternatives) or isinstance(right, Alternatives):
        return None
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
    if isinstance(container, (str, bytes, list, tuple, dict, set, frozenset, range)) and not isinstance(item, (Symbol, Alternatives)):
        if not isinstance(container, (str, bytes)) and any(isinstance(each, (Symbol, Alternatives)) for each in container):
            return True if any(each is item for each in container) else derived(machine, "in", f"{item!r} in a collection", item, container)
        return _host(machine, lambda box, each: each in box, container, item, span)
    return derived(machine, "in", f"{item!r} in {container!r:.40}", item, container, test=("in", item, container))


def _compare_chain(machine: Machine, node: ast.Compare, frame: Frame) -> Value:
    left = machine.evaluate(node.left, frame)
    span = frame.file.span(node)
    result: Value = True
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = machine.evaluate(comparator, frame)
        result = compare(machine, op, left, right, span)
        if len(node.ops) > 1 and machine.truth(result, span) is False:
            return False
        left = right
    return result


def _constant(_machine: Machine, node: ast.Constant, _frame: Frame) -> Value:
    return node.value


def _name(machine: Machine, node: ast.Name, frame: Frame) -> Value:
    value = machine.lookup(node.id, frame)
    if value is MISSING:
        span = frame.file.span(node)
        machine.note(span, f"the name {node.id} is not defined where it is read")
        value = Symbol(node.id, span, machine.stamp)
        machine.heap.write(frame.vars, node.id, value)
    return value


def _attribute(machine: Machine, node: ast.Attribute, frame: Frame) -> Value:
    return machine.getattr(machine.evaluate(node.value, frame), node.attr, frame.file.span(node))


def _subscript(machine: Machine, node: ast.Subscript, frame: Frame) -> Value:
    return machine.getitem(machine.evaluate(node.value, frame), machine.evaluate(node.slice, frame), frame.file.span(node))


def _slice(machine: Machine, node: ast.Slice, frame: Frame) -> Value:
    parts = [None if part is None else machine.evaluate(part, frame) for part in (node.lower, node.upper, node.step)]
    return slice(*parts)


def _binary(machine: Machine, node: ast.BinOp, frame: Frame) -> Value:
    left = machine.evaluate(node.left, frame)
    return binary(machine, node.op, left, machine.evaluate(node.right, frame), frame.file.span(node))


def _unary(machine: Machine, node: ast.UnaryOp, frame: Frame) -> Value:
    value = machine.evaluate(node.operand, frame)
    span = frame.file.span(node)
    if isinstance(node.op, ast.Not):
        return negation(machine, value, span)
    function, method = _UNARY[type(node.op)]
    if isinstance(value, Instance) and value.cls.find(f"__{method}__") is not MISSING:
        return machine.call(machine.getattr(value, f"__{method}__", span), [], {}, span)
    if isinstance(value, (Symbol, Alternatives, Instance, External)):
        return derived(machine, method, f"{method} {value!r}", value)
    machine.domain.before_call(machine, span)
    return _host(machine, lambda operand, _: function(operand), value, None, span)


def _bool(machine: Machine, node: ast.BoolOp, frame: Frame) -> Value:
    stops_at = isinstance(node.op, ast.Or)
    value: Value = None
    for index, part in enumerate(node.values):
        value = machine.evaluate(part, frame)
        if index == len(node.values) - 1:
            return value
        span = frame.file.span(part)
        decided = machine.truth(value, span)
        if decided is None:
            rest = ast.copy_location(ast.BoolOp(node.op, node.values[index + 1 :]), part) if index + 2 < len(node.values) else node.values[-1]
            kept = value
            other = branches.choose(machine, span, [lambda: machine.evaluate(rest, frame)], frame) if _has_call(rest) else machine.evaluate(rest, frame)
            return derived(machine, "or" if stops_at else "and", f"{kept!r} {'or' if stops_at else 'and'} {other!r:.40}", kept, other, test=("bool", kept, other))
        if decided == stops_at:
            return value
    return value


def _has_call(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Call) for inner in ast.walk(node))


def _conditional(machine: Machine, node: ast.IfExp, frame: Frame) -> Value:
    span = frame.file.span(node.test)
    decided = machine.truth(machine.evaluate(node.test, frame), span)
    if decided is not None:
        return machine.evaluate(node.body if decided else node.orelse, frame)
    return branches.choose(machine, span, [lambda: machine.evaluate(node.body, frame), lambda: machine.evaluate(node.orelse, frame)], frame)


def _tuple(machine: Machine, node: ast.Tuple, frame: Frame) -> Value:
    return tuple(_elements(machine, node.elts, frame))


def _elements(machine: Machine, nodes: list[ast.expr], frame: Frame) -> list[Value]:
    values: list[Value] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            values.extend(machine.items(machine.evaluate(node.value, frame), frame.file.span(node)))
        else:
            values.append(machine.evaluate(node, frame))
    return values


def _list(machine: Machine, node: ast.List, frame: Frame) -> Value:
    made = GuestList(_elements(machine, node.elts, frame))
    made.span, made.stamp = frame.file.span(node), machine.stamp
    return made


def _set(machine: Machine, node: ast.Set, frame: Frame) -> Value:
    made = GuestSet(value for value in _elements(machine, node.elts, frame) if value.__hash__ is not None)
    made.span, made.stamp = frame.file.span(node), machine.stamp
    return made


def _dict(machine: Machine, node: ast.Dict, frame: Frame) -> Value:
    made = GuestDict()
    made.span, made.stamp = frame.file.span(node), machine.stamp
    for key, value in zip(node.keys, node.values, strict=True):
        item = machine.evaluate(value, frame)
        if key is None:
            made.update(item if isinstance(item, dict) else {})
            continue
        name = machine.evaluate(key, frame)
        if machine.domain.tracks_places:
            machine.places[(id(made), name if isinstance(name, str) else None)] = frame.file.span(value)
        made[name if name.__hash__ is not None else repr(name)] = item
    return made


def _joined(machine: Machine, node: ast.JoinedStr, frame: Frame) -> Value:
    values = [machine.evaluate(part, frame) for part in node.values]
    if all(isinstance(value, (str, int, float, bool)) for value in values):
        return "".join(str(value) for value in values)
    return Symbol("a formatted text", frame.file.span(node), machine.stamp)


def _formatted(machine: Machine, node: ast.FormattedValue, frame: Frame) -> Value:
    value = machine.evaluate(node.value, frame)
    plain = isinstance(value, (str, int, float, bool)) and node.format_spec is None and node.conversion in {-1, ord("s")}
    return value if plain else Symbol("a formatted text", frame.file.span(node), machine.stamp)


def _lambda(machine: Machine, node: ast.Lambda, frame: Frame) -> Value:
    return make_function(machine, node, "<lambda>", frame)


def _named(machine: Machine, node: ast.NamedExpr, frame: Frame) -> Value:
    value = machine.evaluate(node.value, frame)
    machine.assign(node.target, value, frame)
    return value


def _await(machine: Machine, node: ast.Await, frame: Frame) -> Value:
    return machine.evaluate(node.value, frame)


def _starred(machine: Machine, node: ast.Starred, frame: Frame) -> Value:
    return machine.evaluate(node.value, frame)


_HANDLERS: dict[type[ast.expr], Callable[[Machine, Any, Frame], Value]] = {
    ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute, ast.Subscript: _subscript, ast.Slice: _slice, ast.Call: calls.evaluate_call,
    ast.BinOp: _binary, ast.UnaryOp: _unary, ast.BoolOp: _bool, ast.Compare: _compare_chain, ast.IfExp: _conditional, ast.Tuple: _tuple, ast.List: _list,
    ast.Set: _set, ast.Dict: _dict, ast.JoinedStr: _joined, ast.FormattedValue: _formatted, ast.Lambda: _lambda, ast.NamedExpr: _named, ast.Await: _await,
    ast.Starred: _starred, ast.ListComp: comprehensions.run, ast.SetComp: comprehensions.run, ast.DictComp: comprehensions.run,
    ast.GeneratorExp: comprehensions.run, ast.Yield: generators.run_yield, ast.YieldFrom: generators.run_yield_from,
}  # fmt: skip
