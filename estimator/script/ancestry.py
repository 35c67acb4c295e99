"""Symbols for what is not known: what they come of, and whether that was lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from analysis.interpreter.values import External, Symbol, Value
from estimator.library.symbols import Lost
from estimator.script.words import call_in_words, in_words

if TYPE_CHECKING:
    from analysis.certainty import Place
    from analysis.source import Span
    from estimator.script.domain import TapeDomain

#: Longer chains of what comes of what are not walked.
_LONGEST_CHAIN = 64


def attribute(owner: Symbol, name: str) -> Value:
    """An attribute of something unknown, the same one every time; its ``test`` says which."""
    part = owner.part(f".{name}", f"{in_words(owner)}.{name}")
    if isinstance(part, Symbol) and not part.test:
        part.test = (f".{name}", owner)
    return part


def call_of(domain: TapeDomain, callee: Value, span: Span) -> Symbol:
    """What a call that was not followed gives."""
    made = Symbol(call_in_words(callee), span, domain.machine.stamp)
    made.source = callee
    return made


def lost(why: str, span: Span, source: Value) -> Lost:
    """What stands for something lost, which comes of ``source``."""
    symbol = Lost(why, span)
    symbol.source = source
    return symbol


def chain(value: Value) -> Iterator[Symbol]:
    """``value`` and what it comes of, one after another."""
    for _ in range(_LONGEST_CHAIN):
        if not isinstance(value, Symbol):
            return
        yield value
        value = value.source


def is_lost(domain: TapeDomain, value: Value) -> bool:
    """Whether a value is, holds or comes of something that was reported as lost."""
    if isinstance(value, Symbol):
        return any(isinstance(symbol, Lost) or id(symbol) in domain.causes for symbol in chain(value))
    return isinstance(value, (list, tuple)) and any(is_lost(domain, item) for item in value)


def library_behind(domain: TapeDomain, value: Value) -> tuple[Place | None, str] | None:
    """The name of a library that an unknown value comes of, and the line on which it was called."""
    root = next(reversed(list(chain(value))), None)
    if root is None or root.span is None or not isinstance(root.source, External):
        return None
    return domain.here(root.span), root.source.dotted
