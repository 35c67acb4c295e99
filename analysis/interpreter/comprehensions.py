"""Comprehensions: their targets live in the frame while they run. A generator expression is run when it is consumed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from analysis.interpreter.iteration import few_if_endless
from analysis.interpreter.values import MISSING, GuestDict, GuestList, GuestSet, Value
from analysis.syntax import walk

if TYPE_CHECKING:
    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine

#: Longer comprehensions are cut; their content is then only part of the truth.
MAX_ITEMS = 4096


def run(machine: Machine, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, frame: Frame) -> Value:
    """The value of a comprehension."""
    span = frame.file.span(node)
    if isinstance(node, ast.GeneratorExp):
        first = machine.iterate(machine.evaluate(node.generators[0].iter, frame), span)
        return _lazily(machine, node, _closed_over(node, frame), first)
    made: Value = GuestDict() if isinstance(node, ast.DictComp) else GuestSet() if isinstance(node, ast.SetComp) else GuestList()
    made.span, made.stamp = span, machine.stamp
    unknown = machine.unknown_items
    for _ in _rounds(machine, node.generators, frame, None):
        if isinstance(node, ast.DictComp):
            key = machine.evaluate(node.key, frame)
            made[key if key.__hash__ is not None else repr(key)] = machine.evaluate(node.value, frame)
        elif isinstance(node, ast.SetComp):
            made.add(machine.evaluate(node.elt, frame))
        else:
            made.append(machine.evaluate(node.elt, frame))
        if len(made) >= MAX_ITEMS:
            break
    return made if machine.unknown_items == unknown else machine.domain.collected(machine, made, span)


def _closed_over(node: ast.GeneratorExp, frame: Frame) -> Frame:
    """A frame of its own with the variables that the expression reads: its function may have returned when it is consumed."""
    if frame.function is None:
        return frame
    held = {name: frame.vars[name] for name in _read_by(node) if name in frame.vars}
    return replace(frame, vars=held, pending=[])


@lru_cache(maxsize=4096)
def _read_by(node: ast.GeneratorExp) -> frozenset[str]:
    """The names in the parts that are evaluated later."""
    later = [node.elt, *(part for each in node.generators for part in (each.target, *each.ifs)), *(each.iter for each in node.generators[1:])]
    return frozenset(name.id for part in later for name in walk(part) if isinstance(name, ast.Name))


def _lazily(machine: Machine, node: ast.GeneratorExp, frame: Frame, first: Iterator[Value]) -> Iterator[Value]:
    for _ in _rounds(machine, node.generators, frame, first):
        yield machine.evaluate(node.elt, frame)


def _rounds(machine: Machine, generators: list[ast.comprehension], frame: Frame, first: Iterator[Value] | None) -> Iterator[None]:
    """Once per combination that passes the conditions; the targets' earlier values come back at the end."""
    names = {name.id for each in generators for name in walk(each.target) if isinstance(name, ast.Name)}
    before = {name: frame.vars.get(name, MISSING) for name in names if name not in frame.cells}
    yield from _nested(machine, generators, frame, first)
    for name, value in before.items():
        if value is MISSING:
            machine.heap.delete(frame.vars, name)
        else:
            machine.heap.write(frame.vars, name, value)


def _nested(machine: Machine, generators: list[ast.comprehension], frame: Frame, first: Iterator[Value] | None) -> Iterator[None]:
    if not generators:
        yield None
        return
    generator, *rest = generators
    span = frame.file.span(generator.iter)
    items = first if first is not None else machine.iterate(machine.evaluate(generator.iter, frame), span)
    for item in few_if_endless(machine, items):
        machine.step()
        machine.assign(generator.target, item, frame)
        del item
        if all(machine.truth(machine.evaluate(condition, frame), frame.file.span(condition)) is not False for condition in generator.ifs):
            yield from _nested(machine, rest, frame, None)
