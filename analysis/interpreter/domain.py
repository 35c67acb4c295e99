"""What differs between the two uses of the interpreter: which library answers, what is undecided, how often loops run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from analysis.interpreter.values import Value
from analysis.source import SourceFile, Span

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine


class LoopPlan(Protocol):
    """How often one running loop goes round; asked before each iteration."""

    def another(self, done: int) -> bool:
        """Whether to run one more iteration after ``done``."""
        ...


class Domain(Protocol):
    """The part that knows torch. One object per run.

    ``watches_stores``: whether ``stored`` is to be called. ``tracks_places``: whether the machine notes where each variable was
    set, so that a configuration value can be traced to its line.
    """

    watches_stores: bool

    @property
    def tracks_places(self) -> bool:
        """Whether the machine notes, at this moment, where variables are set."""
        ...

    def lookup(self, dotted: str) -> Value:
        """What the library's name stands for (a ``HostFunction``, ``Class``, constant, host callable), or ``MISSING``."""
        ...

    def guest_source(self, dotted: str) -> SourceFile | None:
        """Source of a library's module that is to be interpreted like the repository's own, if there is one."""
        ...

    def decide(self, machine: Machine, condition: Value, span: Span) -> bool | None:
        """An undecided condition: choose a side, or None to run both and join."""
        ...

    def plan_loop(self, machine: Machine, span: Span, length: int | None) -> LoopPlan:
        """A loop begins; ``length`` is the number of items if it is known."""
        ...

    def trainings(self) -> int:
        """How often something has learned: a comprehension each of whose items is a training of its own ends after a few. 0: that is not told apart."""
        ...

    def threshold(self, machine: Machine, left: Value, right: Value, span: Span, *, by_size: bool) -> tuple[Value, Value]:
        """Two integers are compared inside a loop: the numbers to compare instead, where it is ``by_size`` a counter's distant threshold brought near."""
        ...

    def unknown_items(self, machine: Machine, value: Value, span: Span) -> Iterator[Value]:
        """The items of something iterable that the source does not tell."""
        ...

    def brought(self, machine: Machine, value: Value, span: Span) -> list[Value]:
        """What a list is extended by where the source does not tell it."""
        ...

    def unknown(self, machine: Machine, why: str, span: Span) -> Value:
        """Something that the source does not tell."""
        ...

    def setting(self, machine: Machine, key: Value, value: Value, span: Span) -> Value:
        """What the setting ``key`` of a configuration file stands for, which has ``value`` there, at ``span``."""
        ...

    def unknown_attribute(self, machine: Machine, value: Value, name: str, span: Span) -> Value:
        """An attribute of a ``Symbol`` or ``External``."""
        ...

    def call_unknown(self, machine: Machine, callee: Value, args: list[Value], kwargs: dict[str, Value], span: Span) -> Value:
        """A call that cannot be followed: everything its arguments reach may have changed."""
        ...

    def before_call(self, machine: Machine, span: Span) -> None:
        """A call (or operator) is about to run at ``span``: the tape notes the place."""
        ...

    def stored(self, machine: Machine, holder: Value, key: Value, value: Value, span: Span) -> Value:
        """``value`` is about to be written to a variable (``holder`` is the Frame or Module), an attribute, an item or a container.

        ``MISSING``: something is taken out of the container. Returns what is stored: a domain may mark values that are carried from one iteration to the next.
        """
        ...

    def discarded(self, machine: Machine, value: Value, span: Span) -> None:
        """``value`` of the expression at ``span``, a statement of its own, goes nowhere. Called where ``watches_stores`` is set."""
        ...

    def collected(self, machine: Machine, made: Value, span: Span) -> Value:
        """``made`` holds what was taken of something of unknown length: how many items it has is not known. Returns what it is taken for."""
        ...

    def modulo(self, machine: Machine, left: Value, right: Value, span: Span) -> Value:
        """``left % right`` of an integer and an integer or symbol: a replacement, or ``MISSING`` for the ordinary result."""
        ...

    def host_failed(self, machine: Machine, callee: Value, error: Exception, span: Span) -> Value:
        """A host callable or operator raised on these operands: what the value is then."""
        ...
