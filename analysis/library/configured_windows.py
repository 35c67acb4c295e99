"""Options that set how many micro-batches make a step: whoever gives one asks for more than one, whatever its default is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from analysis.syntax import walk

if TYPE_CHECKING:
    from analysis.interpreter.values import Value
    from analysis.library.domain import TraceDomain
    from analysis.source import SourceFile

#: What such an option is taken for where its default is one: a run of some windows and a tail stays short.
GIVEN = 4
_CALLS = frozenset({"step", "zero_grad"})
#: What frameworks call the option.
_OPTIONS = frozenset({"gradient_accumulation_steps", "accumulate_grad_batches"})


def given(domain: TraceDomain, name: str, value: Value) -> Value:
    """What the option ``name`` is taken for whose default is ``value``: a small window if a file of the run counts micro-batches by it."""
    if type(value) is not int or value != 1 or not domain.world.flags:
        return value
    written = name.encode()
    naming = (module.file for module in domain.machine.loaded.values() if written in module.file.content)
    return GIVEN if any(name in windows(source) for source in naming) else value


@lru_cache(maxsize=4096)
def windows(source: SourceFile) -> frozenset[str]:
    """Names of what a counter is divided by where an optimizer steps, of the lengths of loops over micro-batches, of what frameworks are told."""
    return frozenset(name for node in walk(source.tree) for name in _windows(node))


def _windows(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.If() if _calls(node.body, _CALLS):
            yield from _moduli(node.test)
        case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[ast.Name(id=name) | ast.Attribute(attr=name)])):
            if _calls(node.body, frozenset({"backward"})) and not _calls(node.body, _CALLS):
                yield name
        case ast.keyword(arg=option, value=ast.Name(id=name) | ast.Attribute(attr=name)) if option in _OPTIONS:
            yield name


def _calls(body: list[ast.stmt], names: frozenset[str]) -> bool:
    """Whether a method of one of these names is called in the statements."""
    calls = (each for part in body for each in walk(part) if isinstance(each, ast.Call))
    return any(isinstance(each.func, ast.Attribute) and each.func.attr in names for each in calls)


def _moduli(test: ast.expr) -> Iterator[str]:
    for node in walk(test):
        match node:
            case ast.BinOp(op=ast.Mod(), right=ast.Name(id=name) | ast.Attribute(attr=name)):
                yield name
