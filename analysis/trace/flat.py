"""The tree of a trace laid out in one line, with the places where control joins: what automata run over.

Laid out once per trace; an automaton then passes over it once per object, in time proportional to the parts that hold an event it
knows. A rehearsed tree shares no nodes, so that a pass forward visits nothing twice and needs no table of relations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from analysis.trace.events import Event
from analysis.trace.tree import Alt, CallNode, Leave, Loop, Node, Seq


class Code(Enum):
    """What a place in the line is."""

    EVENT = auto()
    ALT = auto()  # arms follow, each from ARM on, to END_ALT
    ARM = auto()
    END_ALT = auto()
    LOOP = auto()  # iterations follow, each ended by END_ITERATION, to END_LOOP
    END_ITERATION = auto()
    END_LOOP = auto()
    CALL = auto()
    END_CALL = auto()
    LEAVE = auto()  # break, continue, return
    RAISE = auto()  # the last thing in an arm that raises: taken not to happen, unless all arms do


@dataclass(slots=True, eq=False)
class Op:
    """One place. ``end``: where an alternative, arm, loop or call that begins here ends (an arm: the next arm or the end)."""

    code: Code
    event: Event | None = None
    leave: str = ""
    end: int = 0
    #: A break, continue or return inside leaves this alternative, loop or call: it cannot be passed over.
    escapes: bool = False
    #: An alternative, loop or call begins here.
    opens: bool = False


RAISE = "raise"
_ENDS = {Code.ALT: Code.END_ALT, Code.LOOP: Code.END_LOOP, Code.CALL: Code.END_CALL}


def flatten(root: Node) -> list[Op]:
    """The line of a tree, without calls, loops and alternatives that hold no event: whoever passes them comes out as it went in."""
    layout = _Layout()
    layout.lay(root)
    return layout.ops


class _Layout:
    """The line so far, and the places of what is still open in it, the innermost last."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self._open: list[int] = []
        self._events = 0

    def lay(self, node: Node) -> None:
        """Add a node at the end."""
        match node:
            case Event():
                self._events += 1
                self.ops.append(Op(Code.EVENT, node))
            case Seq(children=children):
                for child in children:
                    self.lay(child)
            case CallNode(body=body):
                self._lay_parts(Code.CALL, (body,))
            case Alt(arms=arms, of_receivers=True):
                for arm in arms:
                    self.lay(arm)
            case Alt(arms=arms):
                self._lay_parts(Code.ALT, arms)
            case Loop(iterations=iterations):
                self._lay_parts(Code.LOOP, iterations)
            case Leave(kind=kind) if kind != RAISE:  # a raise that was not undecided: what follows it here is its handler
                self._mark_escapes(kind)
                self.ops.append(Op(Code.LEAVE, leave=kind))

    def _lay_parts(self, code: Code, parts: Sequence[Seq]) -> None:
        begin, before = len(self.ops), self._events
        opening = Op(code, opens=True)
        self.ops.append(opening)
        self._open.append(begin)
        for part in parts:
            if code is Code.ALT:
                self._lay_arm(part)
            else:
                self.lay(part)
            if code is Code.LOOP:
                self.ops.append(Op(Code.END_ITERATION))
        self._open.pop()
        if self._events == before and (code is Code.CALL or not opening.escapes):
            del self.ops[begin:]
        else:
            opening.end = len(self.ops)
            self.ops.append(Op(_ENDS[code]))

    def _lay_arm(self, part: Seq) -> None:
        arm = Op(Code.ARM)
        self._open.append(len(self.ops))
        self.ops.append(arm)
        self.lay(part)
        if part.children and isinstance(part.children[-1], Leave) and part.children[-1].kind == RAISE:
            self.ops.append(Op(Code.RAISE))
        self._open.pop()
        arm.end = len(self.ops)

    def _mark_escapes(self, leave: str) -> None:
        """The parts that an exit leaves on its way to the loop or call that catches it."""
        for index in reversed(self._open):
            self.ops[index].escapes = True
            if catches(self.ops[index].code, leave):
                return


def catches(code: Code, leave: str) -> bool:
    """Whether a loop or call is where that exit ends."""
    return (code is Code.LOOP and leave in {"break", "continue"}) or (code is Code.CALL and leave == "return")


def loops_in(root: Node) -> dict[int, Loop]:
    """The loops of a tree by their numbers."""
    found: dict[int, Loop] = {}
    for node in nodes_in(root):
        if isinstance(node, Loop):
            found.setdefault(node.number, node)
    return found


def events_in(root: Node) -> Iterator[Event]:
    """The events of a tree, in no order."""
    return (child for node in nodes_in(root) if isinstance(node, Seq) for child in node.children if isinstance(child, Event))


def nodes_in(root: Node) -> Iterator[Node]:
    """The inner nodes of a tree, in no order."""
    todo: list[Node] = [root]
    while todo:
        yield (node := todo.pop())
        match node:
            case Seq(children=children):
                todo.extend(child for child in children if not isinstance(child, (Event, Leave)))
            case Alt(arms=parts) | Loop(iterations=parts):
                todo.extend(parts)
            case CallNode(body=body):
                todo.append(body)
