"""The tree of a trace laid out in one line, with the places where control joins: what automata run over.

Laid out once per trace; an automaton then passes over it once per object, in time proportional to the parts that hold an event it
knows. A rehearsed tree shares no nodes, so that a pass forward visits nothing twice and needs no table of relations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

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

_Item: TypeAlias = "Node | Op"


def flatten(root: Node) -> list[Op]:
    """The line of a tree."""
    ops: list[Op] = []
    todo: list[_Item] = [root]
    while todo:
        item = todo.pop()
        if isinstance(item, Op):
            ops.append(item)
        elif isinstance(item, Event):
            ops.append(Op(Code.EVENT, item))
        elif isinstance(item, Leave):
            if item.kind != RAISE:  # a raise that was not undecided: what follows it here is its handler
                ops.append(Op(Code.LEAVE, leave=item.kind))
        else:
            todo.extend(reversed(list(_parts(item))))
    _match_ends(ops)
    return ops


def _parts(node: Seq | Alt | Loop | CallNode) -> Iterator[_Item]:
    """What an inner node is laid out as."""
    match node:
        case Seq(children=children):
            yield from children
        case Alt(arms=arms, of_receivers=True):
            yield from arms
        case Alt(arms=arms):
            yield Op(Code.ALT, opens=True)
            for arm in arms:
                yield Op(Code.ARM)
                yield arm
                if arm.children and isinstance(arm.children[-1], Leave) and arm.children[-1].kind == RAISE:
                    yield Op(Code.RAISE)
            yield Op(Code.END_ALT)
        case Loop(iterations=iterations):
            yield Op(Code.LOOP, opens=True)
            for iteration in iterations:
                yield iteration
                yield Op(Code.END_ITERATION)
            yield Op(Code.END_LOOP)
        case CallNode(body=body):
            yield Op(Code.CALL, opens=True)
            yield body
            yield Op(Code.END_CALL)


def _match_ends(ops: list[Op]) -> None:
    """Fill in where each part ends and whether an exit leaves it."""
    open_at: list[int] = []
    for index, op in enumerate(ops):
        match op.code:
            case Code.ALT | Code.LOOP | Code.CALL:
                open_at.append(index)
            case Code.ARM:
                if ops[open_at[-1]].code is Code.ARM:
                    ops[open_at.pop()].end = index
                open_at.append(index)
            case Code.END_ALT | Code.END_LOOP | Code.END_CALL:
                if ops[open_at[-1]].code is Code.ARM:
                    ops[open_at.pop()].end = index
                ops[open_at.pop()].end = index
            case Code.LEAVE:
                _mark_escapes(ops, open_at, op.leave)


def _mark_escapes(ops: list[Op], open_at: list[int], leave: str) -> None:
    """The parts that an exit leaves on its way to the loop or call that catches it."""
    for index in reversed(open_at):
        ops[index].escapes = True
        if catches(ops[index].code, leave):
            return


def catches(code: Code, leave: str) -> bool:
    """Whether a loop or call is where that exit ends."""
    return (code is Code.LOOP and leave in {"break", "continue"}) or (code is Code.CALL and leave == "return")
