"""The tree of a trace, and the builder through which the interpreter writes it.

Sequence, alternative (with its guard), loop and call are the inner nodes; events and exits the leaves. A
rehearsed loop is the sequence of its iterations. *Invariant:* a node is written once and never changed after it is closed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from analysis.source import Span

if TYPE_CHECKING:
    from analysis.trace.events import Event


@dataclass(slots=True, eq=False)
class Seq:
    """Nodes in order."""

    children: list[Node] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Alt:
    """One of several arms, decided while running by the condition at ``span``.

    ``of_receivers``: the same method is called on one of several objects. Each of them, if it is the one, is called here for certain.
    """

    span: Span
    arms: list[Seq] = field(default_factory=list)
    of_receivers: bool = False


@dataclass(slots=True, eq=False)
class Loop:
    """A loop with its iterations as they were rehearsed. ``complete``: it ended by itself, not by the bound.

    ``stop``: how often it goes round where it runs over a range, as the source says it; None for anything else. ``near``: a condition
    asked whether a round is the last, and was answered as if the last that was rehearsed were.
    """

    span: Span
    number: int
    iterations: list[Seq] = field(default_factory=list)
    complete: bool = True
    stop: Any = None
    near: bool = False


@dataclass(slots=True, eq=False)
class CallNode:
    """A call of the guest function ``name`` from ``span``."""

    span: Span
    name: str
    body: Seq = field(default_factory=Seq)


@dataclass(frozen=True, slots=True)
class Leave:
    """Control leaves: "break" and "continue" the innermost loop, "return" the call, "raise" up to a handler."""

    kind: str


Node: TypeAlias = "Event | Seq | Alt | Loop | CallNode | Leave"


class Builder:
    """Where the interpreter is in the tree. ``flat`` while a generator runs: its own loops leave no nodes in its consumer's.

    ``loops``: all that began, by their number.
    """

    __slots__ = ("flat", "loops", "root", "stack")

    def __init__(self) -> None:
        self.root = Seq()
        self.stack: list[Seq] = [self.root]
        self.loops: dict[int, Loop] = {}
        self.flat = False

    def add(self, node: Node) -> None:
        """Append a leaf or a finished node here. A generator's exits are not its consumer's: they are left out."""
        if not (self.flat and isinstance(node, Leave) and node.kind != "raise"):
            self.stack[-1].children.append(node)

    def begin_call(self, span: Span, name: str) -> None:
        """A guest function is entered."""
        node = CallNode(span, name)
        self.add(node)
        self.stack.append(node.body)

    def begin_loop(self, span: Span, number: int) -> Loop:
        """A loop begins; its iterations are opened with ``begin``."""
        loop = self.loops[number] = Loop(span, number)
        if not self.flat:
            self.add(loop)
        return loop

    def begin_iteration(self, loop: Loop) -> None:
        """The next iteration of ``loop``."""
        if self.flat:
            self.stack.append(self.stack[-1])
            return
        body = Seq()
        loop.iterations.append(body)
        self.stack.append(body)

    def begin_arm(self, alt: Alt) -> None:
        """The next arm of an alternative that was added with ``add``."""
        arm = Seq()
        alt.arms.append(arm)
        self.stack.append(arm)

    def end(self) -> None:
        """Close what was begun last."""
        self.stack.pop()
