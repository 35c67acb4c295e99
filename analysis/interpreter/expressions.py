"""Expressions: each is a function from a node to its value."""

from __future__ import annotations

import ast
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from analysis.interpreter import branches, calls, comprehensions, generators
from analysis.interpreter.affordable import text_is_too_large
from analysis.interpreter.builtins import mapping_of
from analysis.interpreter.closures import make_function
from analysis.interpreter.derivation import derived
from analysis.interpreter.operators import UNARY, binary, compare, host_operator, negation
from analysis.interpreter.values import MISSING, Alternatives, External, GuestDict, GuestList, GuestSet, Instance, Symbol, Value
from analysis.syntax import walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine
    from analysis.source import Span


def evaluate(machine: Machine, node: ast.expr, frame: Frame) -> Value:
    """The value of ``node``."""
    return _HANDLERS[type(node)](machine, node, frame)


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
    name = node.id
    value = frame.vars.get(name, MISSING) if name not in frame.cells else MISSING
    if value is MISSING:
        value = machine.lookup(name, frame)
    if value is MISSING:
        span = frame.file.span(node)
        machine.note(span, f"the name {node.id} is not defined where it is read")
        value = Symbol(node.id, span, machine.stamp)
        machine.heap.write(frame.vars, node.id, value)
    return value


def _attribute(machine: Machine, node: ast.Attribute, frame: Frame) -> Value:
    owner = node.value
    return machine.getattr(_HANDLERS[type(owner)](machine, owner, frame), node.attr, frame.file.span(node))


def _subscript(machine: Machine, node: ast.Subscript, frame: Frame) -> Value:
    return machine.getitem(machine.evaluate(node.value, frame), machine.evaluate(node.slice, frame), frame.file.span(node))


def _slice(machine: Machine, node: ast.Slice, frame: Frame) -> Value:
    parts = [None if part is None else machine.evaluate(part, frame) for part in (node.lower, node.upper, node.step)]
    return slice(*parts)


def _binary(machine: Machine, node: ast.BinOp, frame: Frame) -> Value:
    left, right = node.left, node.right
    return binary(machine, node.op, _HANDLERS[type(left)](machine, left, frame), _HANDLERS[type(right)](machine, right, frame), frame.file.span(node))


def _unary(machine: Machine, node: ast.UnaryOp, frame: Frame) -> Value:
    value = machine.evaluate(node.operand, frame)
    span = frame.file.span(node)
    if isinstance(node.op, ast.Not):
        return negation(machine, value, span)
    function, method = UNARY[type(node.op)]
    if isinstance(value, Instance) and value.cls.find(f"__{method}__") is not MISSING:
        return machine.call(machine.getattr(value, f"__{method}__", span), [], {}, span)
    if isinstance(value, (Symbol, Alternatives, Instance, External)):
        return derived(machine, method, f"{method} {value!r}", value)
    machine.domain.before_call(machine, span)
    return host_operator(machine, lambda operand, _: function(operand), value, None, span)


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
            return _undecided_bool(machine, node, index, value, frame)
        if decided == stops_at:
            return value
    return value


def _undecided_bool(machine: Machine, node: ast.BoolOp, index: int, left: Value, frame: Frame) -> Value:
    """``left`` is undecided: whatever stands to its right may be evaluated or not."""
    right = node.values[index + 1 :]
    rest = right[0] if len(right) == 1 else ast.copy_location(ast.BoolOp(node.op, right), right[0])
    run = partial(machine.evaluate, rest, frame)
    word = "or" if isinstance(node.op, ast.Or) else "and"
    other = branches.choose(machine, frame.file.span(node.values[index]), [run], frame, first=word == "and") if any(map(_has_call, right)) else run()
    return derived(machine, word, f"{left!r} {word} {other!r:.40}", left, other, test=(word, left, other))


@lru_cache(maxsize=4096)
def _has_call(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Call) for inner in walk(node))


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
            _merge(machine, made, item, made.span)
            continue
        name = machine.evaluate(key, frame)
        if machine.domain.tracks_places:
            machine.places[(id(made), name if isinstance(name, str) else None)] = frame.file.span(value)
        made[name if name.__hash__ is not None else repr(name)] = item
    return made


def _merge(machine: Machine, made: GuestDict, item: Value, span: Span) -> None:
    """``{**item}``: its entries, and where they were set."""
    if isinstance(item, Instance) and item.cls.find("keys") is not MISSING:
        item = mapping_of(machine, item, span)
    if not isinstance(item, dict):
        return
    made.update(item)
    if machine.domain.tracks_places:
        machine.places.update({(id(made), key): place for key in item if (place := machine.place_of(item, key)) is not None})


def _joined(machine: Machine, node: ast.JoinedStr, frame: Frame) -> Value:
    values = [machine.evaluate(part, frame) for part in node.values]
    if all(isinstance(value, (str, int, float, bool)) for value in values) and not text_is_too_large(values):
        return "".join(str(value) for value in values)
    return _text(machine, frame.file.span(node), values)


def _text(machine: Machine, span: Span, values: list[Value]) -> Symbol:
    made = Symbol("a formatted text", span, machine.stamp, rank_varying=any(getattr(value, "rank_varying", False) is True for value in values))
    made.test = ("text", *values) if made.rank_varying or isinstance(values[0], str) else ()
    return made


def _formatted(machine: Machine, node: ast.FormattedValue, frame: Frame) -> Value:
    value = machine.evaluate(node.value, frame)
    plain = isinstance(value, (str, int, float, bool)) and node.format_spec is None and node.conversion in {-1, ord("s")}
    return value if plain else _text(machine, frame.file.span(node), [value])


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
