"""Comprehensions: their targets live in the frame while they run. A generator expression is run when it is consumed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from analysis.interpreter.iteration import another, few_if_endless
from analysis.interpreter.loops import Running, length_of
from analysis.interpreter.own_items import own_items
from analysis.interpreter.values import MISSING, GuestDict, GuestList, GuestSet, Instance, Value
from analysis.syntax import walk

if TYPE_CHECKING:
    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine

#: So many items are made where each costs a training of its own, once these took so many steps.
_TRAININGS, _COSTLY = 3, 3_000
#: What the first loop goes through, and how far it has come: a generator expression evaluates that at once.
Started: TypeAlias = tuple[Value, Iterator[Value]]


def run(machine: Machine, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, frame: Frame) -> Value:
    """The value of a comprehension."""
    span = frame.file.span(node)
    if isinstance(node, ast.GeneratorExp):
        source = machine.evaluate(node.generators[0].iter, frame)
        return _lazily(machine, node, _closed_over(node, frame), (source, machine.iterate(source, span)))
    made: Value = GuestDict() if isinstance(node, ast.DictComp) else GuestSet() if isinstance(node, ast.SetComp) else GuestList()
    made.span, made.stamp = span, machine.stamp
    unknown, own = machine.unknown_items, machine.own_items

    for value in _rounds(machine, node.generators, frame, None, _producer(machine, node, frame)):
        if isinstance(made, dict):
            made[value[0] if value[0].__hash__ is not None else repr(value[0])] = value[1]
        elif isinstance(made, set):
            made.add(value)
        else:
            made.append(value)
        if not another(machine, len(made)):
            break
    if machine.own_items != own and isinstance(made, GuestList):
        return own_items(machine, made, span)
    return made if machine.unknown_items == unknown else machine.domain.collected(machine, made, span)


def _producer(machine: Machine, node: ast.ListComp | ast.SetComp | ast.DictComp, frame: Frame) -> Callable[[], Value]:
    """What evaluates one item, or one pair of key and value."""
    if isinstance(node, ast.DictComp):
        key, value = node.key, node.value
        return lambda: (machine.evaluate(key, frame), machine.evaluate(value, frame))
    item = node.elt
    return lambda: machine.evaluate(item, frame)


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


def _lazily(machine: Machine, node: ast.GeneratorExp, frame: Frame, first: Started) -> Iterator[Value]:
    yield from _rounds(machine, node.generators, frame, first, lambda: machine.evaluate(node.elt, frame))


def _rounds(machine: Machine, generators: list[ast.comprehension], frame: Frame, first: Started | None, produce: Callable[[], Value]) -> Iterator[Value]:
    """What ``produce`` gives for each combination that passes the conditions; the targets' earlier values come back at the end."""
    names = {name.id for each in generators for name in walk(each.target) if isinstance(name, ast.Name)}
    before = {name: frame.vars.get(name, MISSING) for name in names if name not in frame.cells}
    yield from _nested(machine, generators, frame, first, produce)
    for name, value in before.items():
        if value is MISSING:
            machine.heap.delete(frame.vars, name)
        else:
            machine.heap.write(frame.vars, name, value)


def _nested(machine: Machine, generators: list[ast.comprehension], frame: Frame, first: Started | None, produce: Callable[[], Value]) -> Iterator[Value]:
    if not generators:
        yield produce()
        return
    generator, *rest = generators
    span = frame.file.span(generator.iter)
    if first is None:
        source = machine.evaluate(generator.iter, frame)
        first = source, machine.iterate(source, span)
    source, items = first
    trainings, steps, rounds = machine.domain.trainings(), machine.steps, 0
    running = Running(machine, span, length_of(machine, source, span), len(frame.pending)) if isinstance(source, Instance) else None
    for item in few_if_endless(machine, items):
        if running is not None:
            running.before = machine.stamp  # whoever consumes the items may have gone on to its next round
            if not running.next():
                break
        machine.step()
        if running is None:
            machine.assign(generator.target, item, frame)
            del item
            if _passes(machine, generator, frame):
                yield from _nested(machine, rest, frame, None, produce)
            rounds += 1
            if rounds >= _TRAININGS and steps - machine.steps > _COSTLY and machine.domain.trainings() != trainings:
                machine.unknown_items += 1  # these stand for all
                return
            continue
        # An object that is gone through is a loop like any other; whoever consumes the items does so outside it.
        machine.tree.begin_iteration(running.node)
        machine.assign(generator.target, item, frame)
        del item
        made = [*_nested(machine, rest, frame, None, produce)] if _passes(machine, generator, frame) else []
        machine.tree.end()
        running.done += 1
        machine.stamp = running.before
        yield from made


def _passes(machine: Machine, generator: ast.comprehension, frame: Frame) -> bool:
    for condition in generator.ifs:
        span = frame.file.span(condition)
        passes = machine.truth(machine.evaluate(condition, frame), span)
        if passes is False:
            return False
        machine.own_items += passes is None and span in machine.divisions
    return True
