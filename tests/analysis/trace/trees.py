"""Trees written by hand: strings are events, whose subject is the string itself."""

from collections.abc import Iterator

from analysis.source import Span
from analysis.trace.events import Context, Event, Kind
from analysis.trace.tree import Alt, CallNode, Leave, Loop, Node, Seq

NOWHERE = Span("train.py", 0, 0)


def event(letter: str, at: int = 0) -> Event:
    return Event(Kind.STEP, Span("train.py", at, at + 1), (), Context(), subject=letter)


def seq(*nodes: "Node | str") -> Seq:
    return Seq([event(node) if isinstance(node, str) else node for node in nodes])


def alt(*arms: Seq) -> Alt:
    return Alt(NOWHERE, list(arms))


def loop(*iterations: Seq) -> Loop:
    return Loop(NOWHERE, 1, list(iterations))


def call(body: Seq) -> CallNode:
    return CallNode(NOWHERE, "f", body)


def leave(kind: str) -> Leave:
    return Leave(kind)


def paths(node: Node) -> Iterator[tuple[str, str]]:
    """Every way through a tree, told the slow way: (how it was left, the letters on the way)."""
    match node:
        case Event():
            yield "", node.subject
        case Leave(kind=kind):
            yield kind, ""
        case Seq(children=children):
            yield from _in_order(children, stop={"break", "continue", "return", "raise"})
        case Alt(arms=arms):
            for arm in arms:
                yield from paths(arm)
        case CallNode(body=body):
            for left, word in paths(body):
                yield ("" if left == "return" else left), word
        case Loop(iterations=iterations):
            for left, word in _in_order(iterations, stop={"break", "return", "raise"}):
                yield ("" if left in {"break", "continue"} else left), word


def _in_order(nodes: list[Node], stop: set[str]) -> Iterator[tuple[str, str]]:
    if not nodes:
        yield "", ""
        return
    for left, word in paths(nodes[0]):
        if left in stop:
            yield left, word
        else:
            for left_later, later in _in_order(nodes[1:], stop):
                yield left_later, word + later
