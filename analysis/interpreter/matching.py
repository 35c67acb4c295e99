"""``match`` statements: the first case that is known to match, or every case that may."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from analysis.interpreter import operators, reflection
from analysis.interpreter.frames import Exit
from analysis.interpreter.values import Alternatives, Symbol, Value

if TYPE_CHECKING:
    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine


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
            return result if isinstance(result, bool) else None
        case ast.MatchSingleton(value=value):
            return None if isinstance(subject, (Symbol, Alternatives)) else subject is value
        case ast.MatchSequence(patterns=patterns):
            return _sequence(machine, patterns, subject, frame)
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_patterns=named):
            answer = reflection.is_a(subject, machine.evaluate(cls, frame))
            return None if answer and (patterns or named) else answer
    return None


def _sequence(machine: Machine, patterns: list[ast.pattern], subject: Value, frame: Frame) -> bool | None:
    if not isinstance(subject, (list, tuple)):
        return None if isinstance(subject, (Symbol, Alternatives)) else False
    if any(isinstance(each, ast.MatchStar) for each in patterns):
        return None
    if len(patterns) != len(subject):
        return False
    answers = [matches(machine, each, item, frame) for each, item in zip(patterns, subject, strict=True)]
    return False if False in answers else None if None in answers else True
