"""Where in the call stack two events meet: findings stand where a reader sees both causes."""

from __future__ import annotations

from collections.abc import Container

from analysis.interpreter.values import Stamp
from analysis.source import Span
from analysis.trace.events import Event


def frames(event: Event) -> tuple[Span, ...]:
    """The call in each frame on the way to the event, outermost first, and the event itself last."""
    return (*event.path, event.span)


def meeting(event: Event, other: Event, files: Container[str]) -> Span:
    """The position of ``event`` in the deepest frame that it shares with ``other``: itself, or the call that leads to it.

    Frames of a library's imagined source are passed over: ``files`` are those of the repository.
    """
    shared = 0
    for a, b in zip(event.path, other.path, strict=False):
        if a != b:
            break
        shared += 1
    inwards = (span for span in frames(event)[shared:] if span.path in files)
    return next(inwards, visible(event, files))


def visible(event: Event, files: Container[str]) -> Span:
    """The event's own position, or that of the innermost call of the repository that leads to it."""
    return next((span for span in reversed(frames(event)) if span.path in files), event.span)


def calls_to(event: Event, files: Container[str]) -> tuple[Span, ...]:
    """The two innermost calls of the repository that lead to where the event is visible, the outer one first: a change may stand at one of them."""
    known = [span for span in frames(event) if span.path in files]
    return tuple(known[:-1][-2:])


def within(stamp: Stamp, iteration: Stamp) -> bool:
    """Whether something made at ``stamp`` was made in ``iteration`` or a loop inside it."""
    return stamp[: len(iteration)] == iteration
