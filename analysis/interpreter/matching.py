"""``match`` statements: the first case that is known to match, or every case that may."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from analysis.interpreter import operators, reflection
from analysis.interpreter.frames import Exit
from analysis.interpreter.values import MISSING, Alternatives, Instance, Symbol, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine

#: Types whose pattern with one part binds the value itself.
_WHOLE = (bool, bytes, dict, float, frozenset, int, list, set, str, tuple)


def run_match(machine: Machine, node: ast.Match, frame: Frame) -> Exit | None:
    """A match statement."""
    subject = machine.evaluate(node.subject, frame)
    possible: list[ast.match_case] = []
    for case in node.cases:
        fits = matches(machine, case.pattern, subject, frame)
        if fits and case.guard is not None:
            fits = machine.truth(machine.evaluate(case.guard, frame), frame.file.span(case.guard))
        if fits and not possible:
            return machine.execute(case.body, frame)
        if fits is not False:
            possible.append(case)
        if fits:
            break
    if not possible:
        return None
    arms = [partial(machine.execute, case.body, frame) for case in possible]
    return machine.fork(frame.file.span(node.subject), arms, frame)


def matches(machine: Machine, pattern: ast.pattern, subject: Value, frame: Frame) -> bool | None:
    """Whether ``subject`` matches, binding names on the way; None if that cannot be told."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            fits = True if inner is None else matches(machine, inner, subject, frame)
            if name is not None and fits is not False:
                machine.assign(ast.copy_location(ast.Name(name, ast.Store()), pattern), subject, frame)
            return fits
        case ast.MatchOr(patterns=patterns):
            answers = [matches(machine, each, subject, frame) for each in patterns]
            return True if True in answers else None if None in answers else False
        case ast.MatchValue(value=value):
            span = frame.file.span(value)
            result = operators.compare(machine, ast.Eq(), subject, machine.evaluate(value, frame), span)
            chosen = machine.domain.watches_stores and isinstance(result, Symbol)  # as ``if`` and ``elif`` choose; where numbers are at stake, all may be
            return machine.truth(result, span) if chosen else result if isinstance(result, bool) else None
        case ast.MatchSingleton(value=value):
            return None if isinstance(subject, (Symbol, Alternatives)) else subject is value
        case ast.MatchSequence(patterns=patterns):
            return _sequence(machine, patterns, subject, frame)
        case ast.MatchMapping():
            return _mapping(machine, pattern, subject, frame)
        case ast.MatchClass():
            return _of_class(machine, pattern, subject, frame)
    return None


def _mapping(machine: Machine, pattern: ast.MatchMapping, subject: Value, frame: Frame) -> bool | None:
    if not isinstance(subject, dict):
        may_be = isinstance(subject, (Symbol, Alternatives)) or (isinstance(subject, Instance) and subject.cls.find("keys") is not MISSING)
        return None if may_be else False
    keys = [machine.evaluate(key, frame) for key in pattern.keys]
    if any(key not in subject for key in keys):
        return False
    fits = _all(matches(machine, each, subject[key], frame) for key, each in zip(keys, pattern.patterns, strict=True))
    if pattern.rest is not None and fits is not False:
        rest = {key: value for key, value in subject.items() if key not in keys}
        machine.assign(ast.copy_location(ast.Name(pattern.rest, ast.Store()), pattern), rest, frame)
    return fits


def _of_class(machine: Machine, pattern: ast.MatchClass, subject: Value, frame: Frame) -> bool | None:
    """A class, the attributes that are named, and what a value of Python's own holds: itself."""
    answer = reflection.is_a(subject, machine.evaluate(pattern.cls, frame))
    if not answer:
        return answer
    if pattern.patterns and (len(pattern.patterns) > 1 or not isinstance(subject, _WHOLE)):
        return None
    span = frame.file.span(pattern.cls)
    inner = [matches(machine, each, subject, frame) for each in pattern.patterns]
    named = zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)
    return _all([*inner, *(matches(machine, each, machine.getattr(subject, name, span), frame) for name, each in named)])


def _all(answers: Iterable[bool | None]) -> bool | None:
    """Whether all match: not if one does not, not known if one is not."""
    found = list(answers)
    return False if False in found else None if None in found else True


def _sequence(machine: Machine, patterns: list[ast.pattern], subject: Value, frame: Frame) -> bool | None:
    if not isinstance(subject, (list, tuple)):
        return None if isinstance(subject, (Symbol, Alternatives)) else False
    if any(isinstance(each, ast.MatchStar) for each in patterns):
        return None
    if len(patterns) != len(subject):
        return False
    return _all(matches(machine, each, item, frame) for each, item in zip(patterns, subject, strict=True))
