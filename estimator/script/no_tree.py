"""A run on the tape leaves no tree of events: what it did is in the tape's log."""

from __future__ import annotations

from analysis.source import Span
from analysis.trace.tree import Alt, Builder, Loop, Node


class NoTree(Builder):
    """Keeps count of what is open and nothing else."""

    __slots__ = ()

    def add(self, node: Node) -> None:
        """Nothing is kept."""

    def begin_call(self, span: Span, name: str) -> None:
        """A guest function is entered."""
        self.stack.append(self.root)

    def begin_loop(self, span: Span, number: int) -> Loop:
        """A loop begins."""
        return Loop(span, number)

    def begin_iteration(self, loop: Loop) -> None:
        """The next iteration."""
        self.stack.append(self.root)

    def begin_arm(self, alt: Alt) -> None:
        """The next arm of an alternative."""
        self.stack.append(self.root)
