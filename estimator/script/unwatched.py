"""What the interpreter asks of a domain that computes with what is written, and watches nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.interpreter.values import Symbol, Value

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine
    from analysis.source import Span


class Unwatched:
    """Values are what they are: counters are concrete, lifetimes are the host's, a setting stands for itself."""

    watches_stores = False

    def threshold(self, machine: Machine, left: Value, right: Value, span: Span, *, by_size: bool) -> tuple[Value, Value]:
        """The numbers that are compared."""
        return left, right

    def discarded(self, machine: Machine, value: Value, span: Span) -> None:
        """Nothing is watched."""

    def stored(self, machine: Machine, holder: Value, key: Value, value: Value, span: Span) -> Value:
        """What is stored."""
        return value

    def setting(self, machine: Machine, key: Value, value: Value, span: Span) -> Value:
        """What the file says."""
        return value

    def unknown(self, machine: Machine, why: str, span: Span) -> Value:
        """Something that the source does not tell."""
        return Symbol(why, span, machine.stamp)
