"""A trace as text: one line per event, indented by loops, branches and calls. For golden tests and for reading."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.interpreter.values import Alternatives, Instance, Value
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed, Span
from analysis.trace.events import Event, Kind
from analysis.trace.trace import Trace
from analysis.trace.tree import Alt, CallNode, Leave, Loop, Node, Seq


def render(trace: Trace) -> str:
    """The whole tree; parts without events are left out."""
    return "\n".join(_lines(trace.root, trace.snapshot, "")) + "\n"


def signature(event: Event) -> str:
    """Kind and class of the subject: ``step AdamW``."""
    named = _name(event.subject)
    return f"{event.kind.value} {named}" if named else event.kind.value


def _lines(node: Node, snapshot: Snapshot, indent: str) -> Iterator[str]:
    match node:
        case Event():
            yield f"{indent}{_line(snapshot, node.span)}: {describe(node)}"
        case Seq(children=children):
            for child in children:
                yield from _lines(child, snapshot, indent)
        case Alt(span=span, arms=arms):
            bodies = [list(_lines(arm, snapshot, indent + "  ")) for arm in arms]
            if any(bodies):
                yield f"{indent}{_line(snapshot, span)}: either"
                for index, body in enumerate(bodies):
                    yield from [f"{indent} or"] * (index > 0) + (body or [f"{indent}  nothing"])
        case Loop(span=span, iterations=iterations, complete=complete):
            bodies = [list(_lines(each, snapshot, indent + "  ")) for each in iterations]
            if any(bodies):
                yield f"{indent}{_line(snapshot, span)}: loop{'' if complete else ', cut'}"
                for first, last, body in _alike(bodies):
                    yield from [f"{indent} [{first}]" if first == last else f"{indent} [{first}-{last}]", *body]
        case CallNode(name=name, body=body):
            inner = list(_lines(body, snapshot, indent + "  "))
            if any(not line.strip().startswith("leave return") for line in inner):
                yield from [f"{indent}call {name}", *inner]
        case Leave(kind=kind):
            if kind != "return":
                yield f"{indent}leave {kind}"


def _alike(bodies: list[list[str]]) -> Iterator[tuple[int, int, list[str]]]:
    """Iterations that read the same, as one: the number of the first and of the last."""
    start = 0
    for index in range(1, len(bodies) + 1):
        if index == len(bodies) or bodies[index] != bodies[start]:
            yield start, index - 1, bodies[start]
            start = index


def describe(event: Event) -> str:
    """One event in words: its signature, and what of its context is out of the ordinary."""
    context = event.context
    notes = [
        word
        for word, holds in (
            ("no grad", not context.grad),
            ("autocast", context.autocast),
            ("no sync", context.no_sync),
            ("some ranks", context.rank_guard is not None),
        )
        if holds
    ]
    if event.kind is Kind.STORE:
        notes += [word for word, holds in (("outlives", event.detail.outlives), ("grows", event.detail.grows)) if holds]
        return f"store {event.detail.key}" + _bracketed(notes)
    if event.kind is Kind.BACKWARD:
        notes += sorted(_name(owner) for owner in event.value.owners)
    return signature(event) + _bracketed(notes)


def _bracketed(notes: list[str]) -> str:
    return f" ({', '.join(notes)})" if notes else ""


def _name(value: Value) -> str:
    match value:
        case Instance():
            return value.cls.name
        case str():
            return value
        case Alternatives(values=values):
            return "|".join(_name(each) for each in values)
        case tuple():
            return ", ".join(_name(each) for each in value)
        case None:
            return ""
    return type(value).__name__.lower()


def _line(snapshot: Snapshot, span: Span) -> str:
    source = snapshot.source(span.path) if span.path in snapshot.contents else None
    return span.path if source is None or isinstance(source, NotAnalysed) else f"{span.path}:{source.line_of(span.start)}"
