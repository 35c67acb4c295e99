"""Values in words for a person."""

from __future__ import annotations

import re

from analysis.interpreter.values import Alternatives, Class, External, Function, HostFunction, Instance, Method, Symbol, Value

_LONGEST = 90
#: Marks that lost their other half; operators stand apart from their operands.
_HALVES = re.compile(r"<+(?=[^\s=<])|(?<=[^\s=>-])>+(?![=>])")


def in_words(value: Value) -> str:
    """A value as a reader would call it."""
    match value:
        case Symbol(why=why):
            words = why
        case External(dotted=dotted) | Class(dotted=dotted):
            words = dotted
        case HostFunction(name=name) | Function(qualname=name):
            words = name
        case Method(function=function):
            words = in_words(function)
        case Instance():
            words = f"an object of {value.cls.name}"
        case Alternatives():
            words = "one of several values"
        case _:
            words = repr(value)
    plain = without_marks(words)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"


def call_in_words(callee: Value) -> str:
    """What a call that was not followed gives."""
    return f"{in_words(callee)}(…)"


def without_marks(words: str) -> str:
    """``<item 0 of <x>>`` → ``item 0 of x``; of a text that was cut, marks without their other half go too. ``a < b`` stays."""
    if "<" not in words and ">" not in words:
        return words
    for _ in range(8):
        bare = re.sub(r"<([^<>]*)>", r"\1", words)
        if bare == words:
            break
        words = bare
    return _HALVES.sub("", words)
