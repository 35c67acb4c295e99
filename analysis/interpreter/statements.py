"""Statements: each is a function from a node to how it leaves (None: it goes on with the next)."""

from __future__ import annotations

import ast
from functools import reduce
from typing import TYPE_CHECKING, Any

from analysis.interpreter import classes, exceptions, imports, loops, managers, matching
from analysis.interpreter.closures import make_function
from analysis.interpreter.frames import Exit
from analysis.interpreter.joins import join
from analysis.interpreter.signals import BudgetSpent
from analysis.interpreter.values import MISSING, Alternatives, GuestList, HostValue, Instance, Module, Symbol, Value
from analysis.syntax import walk
from analysis.trace.tree import Leave

if TYPE_CHECKING:
    from collections.abc import Callable

    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine

    Handler = Callable[[Machine, Any, Frame], Exit | None]


def execute(machine: Machine, body: list[ast.stmt], frame: Frame) -> Exit | None:
    """Run statements in order."""
    for node in body:
        machine.steps -= 1
        if machine.steps < 0:
            raise BudgetSpent
        left = _HANDLERS[type(node)](machine, node, frame)
        if left is not None:
            return left
    return None


def assign(machine: Machine, target: ast.expr, value: Value, frame: Frame) -> None:
    """Bind ``value`` to a target: a name, an attribute, an item, or several of them."""
    match target:
        case ast.Name(id=name):
            assign_name(machine, name, value, frame, target)
        case ast.Attribute(value=owner, attr=name):
            machine.setattr(machine.evaluate(owner, frame), name, value, frame.file.span(target))
        case ast.Subscript(value=owner, slice=index):
            machine.setitem(machine.evaluate(owner, frame), machine.evaluate(index, frame), value, frame.file.span(target))
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            _unpack(machine, targets, value, frame)
        case ast.Starred(value=inner):
            assign(machine, inner, value, frame)


def assign_name(machine: Machine, name: str, value: Value, frame: Frame, node: ast.AST) -> None:
    """Bind a variable where the scoping rules put it."""
    if machine.overrides and frame.names is None and frame.owner is None and name in machine.overrides:
        value = machine.overrides[name]
    holder: Value
    if frame.names is None or name in frame.names.local:
        cells, key, holder = (frame.cells[name], "value", frame) if name in frame.cells else (frame.vars, name, frame)
    elif name in frame.cells:
        cells, key, holder = frame.cells[name], "value", frame
    else:
        cells, key, holder = frame.module.vars, name, frame.module
    if machine.domain.watches_stores and isinstance(value, (HostValue, Instance, list, tuple, dict)):
        value = machine.domain.stored(machine, holder, name, value, frame.file.span(node))
    if machine.domain.tracks_places:
        machine.places[(id(cells), key)] = frame.file.span(node)
    machine.heap.write(cells, key, value)


def _unpack(machine: Machine, targets: list[ast.expr], value: Value, frame: Frame) -> None:
    star = next((i for i, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    items = _items_for(machine, value, len(targets), frame, exact=star is None)
    if star is None:
        for target, item in zip(targets, items, strict=False):
            assign(machine, target, item, frame)
        return
    after = len(targets) - star - 1
    for target, item in zip(targets[:star], items, strict=False):
        assign(machine, target, item, frame)
    middle = GuestList(items[star : len(items) - after])
    middle.span, middle.stamp = frame.file.span(targets[star]), machine.stamp
    assign(machine, targets[star], middle, frame)
    for target, item in zip(targets[star + 1 :], items[len(items) - after :], strict=False):
        assign(machine, target, item, frame)


def _items_for(machine: Machine, value: Value, count: int, frame: Frame, *, exact: bool) -> list[Value]:
    """The items to unpack; what cannot be told is derived place by place."""
    if isinstance(value, Symbol):
        return [value.part(f"[{i}]", stamp=machine.stamp) for i in range(count)]
    if isinstance(value, Alternatives):
        rows = [_items_for(machine, each, count, frame, exact=exact) for each in value.values if isinstance(each, (tuple, list, Symbol, HostValue))]
        if rows and len({len(row) for row in rows}) == 1:
            return [reduce(join, column) for column in zip(*rows, strict=True)]
    unpack = getattr(value, "unpack", None) if isinstance(value, HostValue) else None
    if unpack is not None:
        return list(unpack(count))
    items = machine.items(value, machine.span)
    if exact and len(items) != count:
        span = frame.file.span(frame.file.tree.body[0])
        items = (items + [Symbol("a value that could not be unpacked", span, machine.stamp)] * count)[:count]
    return items


def _expr(machine: Machine, node: ast.Expr, frame: Frame) -> Exit | None:
    if not isinstance(node.value, ast.Constant):
        value = machine.evaluate(node.value, frame)
        if machine.domain.watches_stores and isinstance(value, (HostValue, Symbol)):
            machine.domain.discarded(machine, value, frame.file.span(node.value))
    return None


def _assign(machine: Machine, node: ast.Assign, frame: Frame) -> Exit | None:
    value = machine.evaluate(node.value, frame)
    for target in node.targets:
        assign(machine, target, value, frame)
    return None


def _ann_assign(machine: Machine, node: ast.AnnAssign, frame: Frame) -> Exit | None:
    if frame.owner is not None and isinstance(node.target, ast.Name):
        frame.vars.setdefault("__annotations__", {})[node.target.id] = node.annotation
    if node.value is not None:
        assign(machine, node.target, machine.evaluate(node.value, frame), frame)
    return None


def _aug_assign(machine: Machine, node: ast.AugAssign, frame: Frame) -> Exit | None:
    load: ast.expr
    match node.target:
        case ast.Name(id=name):
            load = ast.copy_location(ast.Name(name, ast.Load()), node.target)
        case ast.Attribute(value=owner, attr=name):
            load = ast.copy_location(ast.Attribute(owner, name, ast.Load()), node.target)
        case ast.Subscript(value=owner, slice=index):
            load = ast.copy_location(ast.Subscript(owner, index, ast.Load()), node.target)
    left = machine.evaluate(load, frame)
    right = machine.evaluate(node.value, frame)
    value = machine.binary(node.op, left, right, frame.file.span(node), in_place=True)
    assign(machine, node.target, value, frame)
    return None


def _return(machine: Machine, node: ast.Return, frame: Frame) -> Exit | None:
    value = None if node.value is None else machine.evaluate(node.value, frame)
    machine.tree.add(Leave("return"))
    return Exit("return", value, frame.file.span(node))


def _if(machine: Machine, node: ast.If, frame: Frame) -> Exit | None:
    condition = machine.evaluate(node.test, frame)
    span = frame.file.span(node.test)
    decided = machine.truth(condition, span)
    if decided is None and frame.generator is not None and _yields(node):
        decided = True  # a suspended side cannot be undone: the generator is taken to yield
    if decided is not None:
        return machine.execute(node.body if decided else node.orelse, frame)
    return machine.fork(span, [lambda: machine.execute(node.body, frame), lambda: machine.execute(node.orelse, frame)], frame)


def _yields(node: ast.AST) -> bool:
    return any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in walk(node))


def _break(machine: Machine, node: ast.Break, frame: Frame) -> Exit | None:
    machine.tree.add(Leave("break"))
    return Exit("break", span=frame.file.span(node))


def _continue(machine: Machine, node: ast.Continue, frame: Frame) -> Exit | None:
    machine.tree.add(Leave("continue"))
    return Exit("continue", span=frame.file.span(node))


def _nothing(_machine: Machine, _node: ast.stmt, _frame: Frame) -> Exit | None:
    return None


def _delete(machine: Machine, node: ast.Delete, frame: Frame) -> Exit | None:
    for target in node.targets:
        match target:
            case ast.Name(id=name):
                cells = frame.cells.get(name, frame.vars)
                machine.heap.delete(cells, "value" if name in frame.cells else name)
            case ast.Attribute(value=owner, attr=name):
                machine.delattr(machine.evaluate(owner, frame), name, frame.file.span(target))
            case ast.Subscript(value=owner, slice=index):
                container, key = machine.evaluate(owner, frame), machine.evaluate(index, frame)
                if isinstance(container, (list, dict)):
                    machine.heap.touch(container)
                    if machine.domain.watches_stores:
                        machine.domain.stored(machine, container, None, MISSING, frame.file.span(target))
                    try:
                        del container[key]
                    except (KeyError, IndexError, TypeError):
                        machine.note(frame.file.span(target), "deletes an item that is not known to be there")
    return None


def _assert(machine: Machine, node: ast.Assert, frame: Frame) -> Exit | None:
    machine.evaluate(node.test, frame)
    return None


def _import(machine: Machine, node: ast.Import, frame: Frame) -> Exit | None:
    for alias in node.names:
        module = machine.import_module(alias.name, frame.file.path)
        if alias.asname is None and "." in alias.name:
            module = machine.import_module(alias.name.split(".")[0], frame.file.path)
        assign_name(machine, alias.asname or alias.name.split(".")[0], module, frame, node)
    return None


def _import_from(machine: Machine, node: ast.ImportFrom, frame: Frame) -> Exit | None:
    dotted = "." * node.level + (node.module or "")
    module = machine.import_module(dotted, frame.file.path)
    for alias in node.names:
        if alias.name == "*":
            _import_star(machine, module, frame)
            continue
        value = imports.from_import(machine, module, alias.name, frame.file.path)
        assign_name(machine, alias.asname or alias.name, value, frame, node)
    return None


def _import_star(machine: Machine, module: Value, frame: Frame) -> None:
    if not isinstance(module, Module):
        return
    exported = module.vars.get("__all__")
    for name, value in list(module.vars.items()):
        if isinstance(name, str) and (name in exported if isinstance(exported, list) else not name.startswith("_")):
            machine.heap.write(frame.vars, name, value)


def _function(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> Exit | None:
    assign_name(machine, node.name, classes.decorated(machine, node, make_function(machine, node, node.name, frame), frame), frame, node)
    return None


_HANDLERS: dict[type[ast.stmt], Handler] = {
    ast.Expr: _expr, ast.Assign: _assign, ast.AnnAssign: _ann_assign, ast.AugAssign: _aug_assign, ast.Return: _return,
    ast.If: _if, ast.For: loops.run_for, ast.AsyncFor: loops.run_for, ast.While: loops.run_while, ast.Break: _break, ast.Continue: _continue,
    ast.Pass: _nothing, ast.Nonlocal: _nothing, ast.Global: _nothing, ast.Delete: _delete, ast.Assert: _assert, ast.Import: _import,
    ast.ImportFrom: _import_from, ast.FunctionDef: _function, ast.AsyncFunctionDef: _function, ast.ClassDef: classes.define, ast.With: managers.run_with,
    ast.AsyncWith: managers.run_with, ast.Try: exceptions.run_try, ast.Raise: exceptions.run_raise, ast.Match: matching.run_match,
}  # fmt: skip
for _later in ("TryStar", "TypeAlias"):  # of Python 3.11 and 3.12: absent from the syntax of older ones
    if hasattr(ast, _later):
        _HANDLERS[getattr(ast, _later)] = exceptions.run_try if _later == "TryStar" else _nothing
