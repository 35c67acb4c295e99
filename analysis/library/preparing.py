"""What a method of a class that nobody makes expects to have been called: the methods that set the attributes it reads.

A trainer is often built by a registry and prepared by a call of its own (``load``, ``setup``, ``build``) before it trains. Where its
constructor does not set what a method reads, and another method without arguments does, that one came first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.interpreter.values import MISSING, Class, Function
from analysis.library.functions import unwrapped
from analysis.syntax import walk

if TYPE_CHECKING:
    from analysis.interpreter.values import Instance

#: Methods of others whose call says that the caller is the training or evaluation itself, and prepares nothing.
_WORK = frozenset({"backward", "step", "zero_grad", "eval", "no_grad"})
#: More than a trainer has: beyond them nothing is looked for.
_MOST_METHODS = 200


@dataclass(frozen=True, slots=True)
class _Method:
    """What one method does to its object. ``calls``: other methods of the object; ``works``: it trains or evaluates."""

    name: str
    sets: frozenset[str]
    reads: frozenset[str]
    calls: frozenset[str]
    works: bool
    alone: bool  # it can be called without arguments


def preparations(instance: Instance, name: str) -> list[str]:
    """Methods to call before ``name``, in the order in which they are written."""
    methods = _methods(instance.cls)
    if name not in methods or len(methods) > _MOST_METHODS:
        return []
    needed = _closure(methods, name)
    read = {attribute for each in needed for attribute in methods[each].reads} - instance.fields.keys()
    missing = {attribute for attribute in read if instance.cls.find(attribute) is MISSING}
    able = {each for each in methods if each not in needed and _prepares(methods, each, name, missing)}
    within = {other for each in able for other in _closure(methods, each) - {each}}
    chosen: list[str] = []
    for each in methods:
        found = _sets(methods, each) & missing if each in able and each not in within else set()
        if found:
            chosen.append(each)
            missing -= found
    return chosen


def _prepares(methods: dict[str, _Method], each: str, name: str, missing: set[str]) -> bool:
    inside = _closure(methods, each)
    return methods[each].alone and name not in inside and bool(_sets(methods, each) & missing) and not any(methods[other].works for other in inside)


def _sets(methods: dict[str, _Method], name: str) -> set[str]:
    return {attribute for each in _closure(methods, name) for attribute in methods[each].sets}


def _closure(methods: dict[str, _Method], name: str) -> set[str]:
    """The method and those that it calls on its object."""
    found, todo = set[str](), [name]
    while todo:
        each = todo.pop()
        if each in methods and each not in found:
            found.add(each)
            todo.extend(methods[each].calls)
    return found


def _methods(cls: Class) -> dict[str, _Method]:
    """The plain methods of a class and its bases, the nearest of each name, in the order in which they are written."""
    found: dict[str, _Method] = {}
    for owner in cls.mro:
        for name, held in owner.namespace.items():
            value = unwrapped(held)
            if isinstance(value, Function) and not isinstance(value.node, ast.Lambda) and name not in found and not name.startswith("__"):
                found[name] = _read(name, value.node)
    return found


def _read(name: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> _Method:
    arguments = node.args
    required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    receiver = arguments.args[0].arg if arguments.args else ""
    touched = [each for each in walk(node) if isinstance(each, ast.Attribute)]
    own = [each for each in touched if isinstance(each.value, ast.Name) and each.value.id == receiver]
    cleared = set(_cleared(node))
    return _Method(
        name,
        frozenset(each.attr for each in own if isinstance(each.ctx, ast.Store) and each not in cleared),
        frozenset(each.attr for each in own if isinstance(each.ctx, ast.Load)),
        frozenset(each.func.attr for each in walk(node) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func in own),
        any(each.attr in _WORK for each in touched if each not in own),
        required == 1 and not any(default is None for default in arguments.kw_defaults),
    )


def _cleared(node: ast.AST) -> Iterator[ast.expr]:
    """Targets that are set to nothing."""
    for each in walk(node):
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant) and each.value.value is None:
            yield from each.targets
