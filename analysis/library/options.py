"""The options of an object that nobody makes in the program, and of a function that nobody calls: whoever does may set what is off or absent by default.

A trainer class of a library keeps a record of options, filled with its defaults where nobody passes any. As the arguments of
a command line, its switches are on in one world and off in the other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from analysis.interpreter.values import Class, Function, HostFunction, Instance, Value
from analysis.library.dataclass import annotations_of, default_of
from analysis.library.roles import named_role
from analysis.syntax import children, walk

if TYPE_CHECKING:
    from analysis.library.domain import TraceDomain

#: Classes whose objects a function can do without, and which some of its callers have.
_HANDED_OVER = frozenset({"torch.optim.lr_scheduler.LRScheduler", "torch.amp.GradScaler", "torch.optim.Optimizer"})


def open_options(domain: TraceDomain, instance: Instance) -> None:
    """Make flags of the switches in the records that ``instance`` keeps, as far as they still have their defaults."""
    for held in list(instance.fields.values()):
        if isinstance(held, Instance) and isinstance(held.cls.find("__init__"), HostFunction):
            for name in annotations_of(held.cls):
                if _is_switch(held.fields.get(name, ...)) and default_of(held.cls, name) is held.fields[name]:
                    domain.machine.heap.write(held.fields, name, domain.casting.symbol(name, domain.machine.span, ()))


def missed(function: Function) -> dict[str, ast.arg]:
    """The parameters that are absent by default and whose absence raises an exception somewhere: under some option they have to be passed.

    That is where the code says so, or reads an attribute of what may be absent without asking.
    """
    absent = _absent(function)
    if not absent:
        return {}
    wanted = {name for each in walk(function.node) if isinstance(each, ast.If) and isinstance(each.body[-1], ast.Raise) for name in _tested(each.test)}
    wanted.update(_read_anyway(function.node, frozenset(absent)))
    return {name: parameter for name, parameter in absent.items() if name in wanted}


def _read_anyway(node: ast.AST, names: frozenset[str]) -> Iterator[str]:
    """Those of ``names`` of which an attribute is read where nothing asks whether they are there."""
    match node:
        case ast.Attribute(value=ast.Name(id=name)) if name in names:
            yield name
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            names -= _mentioned(test)
        case ast.BoolOp():
            names -= _mentioned(node)
    for child in children(node) if names else ():
        yield from _read_anyway(child, names)
        if isinstance(child, ast.Assign):
            names -= frozenset(target.id for target in child.targets if isinstance(target, ast.Name))


def _mentioned(test: ast.expr) -> frozenset[str]:
    """The names in a condition of which nothing is read there."""
    read = {node.value.id for node in walk(test) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)}
    return frozenset(node.id for node in walk(test) if isinstance(node, ast.Name)) - read


def handed_over(function: Function) -> dict[str, ast.arg]:
    """The optimizers, schedulers and scalers that are absent by default, and that nothing takes the place of: whoever trains with one passes it."""
    return {
        name: parameter
        for name, parameter in _absent(function).items()
        if parameter.annotation is not None
        and (role := named_role(ast.unparse(parameter.annotation))) is not None
        and role.cls in _HANDED_OVER
        and not _made_where_absent(function, name)
    }


def _made_where_absent(function: Function, name: str) -> bool:
    """Whether the function makes one where none is passed."""
    targets = (target for node in walk(function.node) if isinstance(node, ast.Assign) for target in node.targets)
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def gone_through(function: Function) -> dict[str, ast.arg]:
    """The parameters that are absent by default and over which the function goes in a loop where they are given."""
    over = [each.iter for each in walk(function.node) if isinstance(each, (ast.For, ast.comprehension))]
    named = {name.id for each in over for name in walk(each) if isinstance(name, ast.Name)}
    return {name: parameter for name, parameter in _absent(function).items() if name in named}


def asked_for(cls: Class, init: Function) -> dict[str, ast.arg]:
    """The parameters of a constructor that are absent by default, and that a method of the object asks about: one object has them, another does without."""
    methods = (each.node for each in cls.namespace.values() if isinstance(each, Function) and each is not init)
    asked = {name for node in methods for name in questions(node)}
    return {name: parameter for name, parameter in _absent(init).items() if name in asked}


def questions(node: ast.AST) -> Iterator[str]:
    """The attributes of ``self`` whose presence a condition asks about."""
    for each in walk(node):
        test = each.test if isinstance(each, (ast.If, ast.IfExp)) else None
        for part in test.values if isinstance(test, ast.BoolOp) else [test]:
            match part:
                case ast.Compare(ast.Attribute(ast.Name(id="self"), name), ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
                    yield name


def _absent(function: Function) -> dict[str, ast.arg]:
    """The parameters whose default is None."""
    arguments = function.node.args
    positional = zip(reversed([*arguments.posonlyargs, *arguments.args]), reversed(function.defaults), strict=False)
    by_name = ((each, function.kw_defaults.get(each.arg, ...)) for each in arguments.kwonlyargs)
    return {parameter.arg: parameter for parameter, default in (*positional, *by_name) if default is None}


def _tested(test: ast.expr) -> Iterator[str]:
    """The names whose absence is a part of the condition; what is of no wanted class may be absent too."""
    match test:
        case ast.BoolOp(op=ast.And(), values=parts):
            for part in parts:
                yield from _tested(part)
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=None)]):
            yield name
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name) | ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), _])):
            yield name


def _is_switch(value: Value) -> bool:
    return value is None or isinstance(value, bool)
