"""Options of a command line that are absent by default, and given in some run or in every run that trains.

Without some the program ends; others name what to go on from, or where to put things: behind the question whether they are there, they are handed on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from analysis.source import SourceFile
from analysis.syntax import walk

#: How the description of an option ends that is given and handed on: where it names a file, the file is there.
HANDED_ON = ", given"


@lru_cache(maxsize=128)
def asked_for(source: SourceFile) -> frozenset[str]:
    """Attributes whose absence, alone or with others, ends the program: by an exception, also as the last way out, or a failed assertion."""
    found: set[str] = set()
    for node in walk(source.tree):
        match node:
            case ast.If(test=test, body=[*_, ast.Raise()]):
                found.update(_compared(test))
            case ast.If():
                tests, otherwise = _in_turn(node)
                found.update(_one_of(tests) if any(isinstance(last, ast.Raise) for last in otherwise[-1:]) else ())
            case ast.Assert(test=test):
                found.update(_compared(test))
                found.update(_named(test))
    return frozenset(found)


def _in_turn(chain: ast.If) -> tuple[list[ast.expr], list[ast.stmt]]:
    """The conditions of ``if … elif … else``, and what runs where none of them holds."""
    tests = [chain.test]
    while len(chain.orelse) == 1 and isinstance(chain.orelse[0], ast.If):
        chain = chain.orelse[0]
        tests.append(chain.test)
    return tests, chain.orelse


def _one_of(parts: list[ast.expr]) -> Iterator[str]:
    """Names, of attributes or of what they were passed as, of which one at least has to be there."""
    while parts:
        match parts.pop():
            case ast.BoolOp(values=values):
                parts.extend(values)
            case ast.Compare(left=asked, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
                parts.append(asked)
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name


@lru_cache(maxsize=128)
def handed_on(source: SourceFile) -> frozenset[str]:
    """Attributes whose presence decides an ``if`` whose body passes them to a call: ``if args.resume: restore(args.resume, model)``."""
    found: set[str] = set()
    for node in walk(source.tree):
        if isinstance(node, ast.If):
            calls = (each for part in node.body for each in walk(part) if isinstance(each, ast.Call))
            passed = {given.attr for call in calls for given in (*call.args, *(each.value for each in call.keywords)) if isinstance(given, ast.Attribute)}
            found.update(name for name in _present(node.test) if name in passed)
    return frozenset(found)


def _present(test: ast.expr) -> Iterator[str]:
    """Attributes that are there where the condition holds."""
    match test:
        case ast.Compare(left=ast.Attribute(attr=name), ops=[ast.IsNot() | ast.NotEq()], comparators=[ast.Constant(value=None | "")]):
            yield name
        case ast.BoolOp(op=ast.And(), values=parts):
            for part in parts:
                yield from _present(part)
        case _:
            yield from _named(test)


def _compared(test: ast.expr) -> Iterator[str]:
    """Attributes that are asked for their absence anywhere in the condition."""
    for node in walk(test):
        match node:
            case ast.Compare(left=ast.Attribute(attr=name), ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=None)]):
                yield name
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from _named(operand)


def _named(test: ast.expr) -> Iterator[str]:
    """Attributes whose truth decides the condition."""
    match test:
        case ast.Attribute(attr=name):
            yield name
        case ast.BoolOp(values=parts):
            for part in parts:
                yield from _named(part)
