"""The accumulation windows of an optimizer: which backwards each step sums. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from analysis.library.tensor import Made, tensors_in
from analysis.rules._carriers import ancestors
from analysis.rules._gradients import GRADIENT_EVENTS, Gradients
from analysis.rules._objects import forward_numbers, numbers_in
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import frames
from analysis.trace.reading import around, span_of, text

#: Rounds of a loop whose graphs fit into memory together, as a rule.
_FEW = 16


@dataclass(slots=True)
class Window:
    """The backwards whose gradients ``end`` takes (a STEP) or throws away (a ZERO_GRAD); None: the trace ends.

    ``unsure``: something in between was undecided, not followed, or done to the gradients by hand; ``by_hand``: only the last of these.
    """

    backwards: list[Event] = field(default_factory=list)
    end: Event | None = None
    unsure: bool = False
    by_hand: bool = False

    def doubt(self, *, undecided: bool) -> None:
        """Take in whether something may not have happened."""
        self.unsure, self.by_hand = self.unsure or undecided, self.by_hand and not undecided

    @property
    def stepped(self) -> bool:
        """Whether a step uses it."""
        return self.end is not None and self.end.kind is Kind.STEP

    @property
    def guarded(self) -> bool:
        """Whether the step stands in the loop over micro-batches itself, in the iteration of the last backward."""
        return self.end is not None and bool(self.backwards) and self.end.context.stamp == self.backwards[-1].context.stamp

    def in_one_loop(self) -> bool:
        """Whether all backwards stand in one place and happen in different iterations of one run of a loop, over graphs of their own."""
        if len(self.backwards) < 2 or not in_turns(self.backwards):  # noqa: PLR2004  a window is two at least
            return False
        seen: set[int] = set()
        for event in self.backwards:
            numbers = numbers_in([event.value])
            if not numbers or numbers & seen:
                return False
            seen |= numbers
        return True


def in_turns(events: list[Event]) -> bool:
    """Whether all stand in one place and happen in different iterations of one run of a loop: each once, or in the same turn of a loop inside (over hooks)."""
    stamps = [event.context.stamp for event in events]
    first = stamps[0]
    if not first or any(len(stamp) != len(first) or frames(event) != frames(events[0]) for event, stamp in zip(events, stamps, strict=True)):
        return False
    level = next((level for level, each in enumerate(first) if any(stamp[level] != each for stamp in stamps)), len(first) - 1)
    if any(stamp[level][0] != first[level][0] for stamp in stamps) or len({stamp[level] for stamp in stamps}) < len(stamps):
        return False
    return all(turn == other for stamp in stamps for (_, turn), (_, other) in zip(stamp[level + 1 :], first[level + 1 :], strict=True))


def windows(trace: Trace, gradients: Gradients) -> list[Window]:
    """The windows of one optimizer in the order of the trace.

    A clearing that may have happened, with a step right behind it that surely has, is the way out of the step: gradients that cannot be used.
    """
    found: list[Window] = []
    now = Window()
    cleared: Event | None = None
    for event in trace.events(*GRADIENT_EVENTS):
        letter = gradients.letter(event)
        if letter == "zero" and now.backwards and trace.undecided(event):
            cleared = cleared or event
            continue
        if cleared is not None and letter is not None and (letter != "step" or trace.undecided(event)):
            now.end, now.unsure = cleared, True
            found.append(now)
            now = Window()
        cleared = None if letter is not None else cleared
        match letter:
            case "backward":
                now.backwards.append(event)
                now.doubt(undecided=trace.undecided(event))
            case "step":
                now.end = event
            case "zero" if now.backwards:
                now.end = event
            case "use":
                now.by_hand = now.by_hand or not now.unsure
                now.unsure = True
            case "opaque":
                now.unsure, now.by_hand = True, False
        if now.end is not None:
            now.doubt(undecided=trace.undecided(event))
            found.append(now)
            now = Window()
    return [*found, now] if now.backwards else found


def goes_round_few(trace: Trace, one: Event, other: Event) -> bool:
    """Whether the innermost loop that two events share is counted, and goes round a few times only: what it collects stays small."""
    shared = [a for (a, _), (b, _) in zip(one.context.stamp, other.context.stamp, strict=False) if a == b]
    loop = trace.loop(shared[-1]) if shared else None
    return loop is not None and isinstance(loop.stop, int) and loop.stop <= _FEW


def loop_source(trace: Trace, event: Event) -> ast.For | None:
    """The ``for`` statement whose iteration the event belongs to."""
    loop = trace.loop(event.context.stamp[-1][0]) if event.context.stamp else None
    if loop is None or loop.span.path not in trace.snapshot.contents:
        return None
    stands = around(trace.snapshot, loop.span)
    found = [each for each in stands.statements if isinstance(each, ast.For)] if stands is not None else []
    return next((each for each in reversed(found) if _matches(trace.snapshot, each, loop.span)), None)


def _matches(snapshot: Snapshot, statement: ast.For, span: Span) -> bool:
    source = snapshot.source(span.path)
    return isinstance(source, SourceFile) and any(span_of(snapshot, span.path, node) == span for node in (statement, statement.iter, statement.target))


def counts(statement: ast.For | None) -> ast.Call | None:
    """The ``range(…)`` that a loop runs over."""
    match statement:
        case ast.For(iter=ast.Call(func=ast.Name(id="range" | "trange")) as call):
            return call
        case _:
            return None


def gathers_batches(trace: Trace, window: Window) -> bool:
    """Whether each backward is over another batch of one loader, all of them taken from it before the loop began."""
    fed = {number: event.detail for event in trace.events(Kind.FORWARD) for number in forward_numbers(event)}
    found: list[Made] = []
    for backward in window.backwards:
        given = [tensor for number in numbers_in([backward.value]) for each in tensors_in(fed.get(number, ())) for tensor in ancestors(each)]
        batches = {each.made: each.stamp for each in given if each.made is not None and each.made.op == "batch" and "loader" in each.made.options}
        if len(batches) != 1 or any(len(stamp) >= len(backward.context.stamp) for stamp in batches.values()):
            return False
        found.extend(batches)
    return len(set(found)) == len(found) and len({id(each.options["loader"]) for each in found}) == 1


def size_of(trace: Trace, window: Window) -> str | None:
    """What the source calls the size of the window: ``n`` of ``if (i + 1) % n == 0`` or of ``for micro in range(n)``."""
    backward, step = window.backwards[0], window.end
    if step is None or step.path[: len(backward.path)] != backward.path:
        return None
    loop = loop_source(trace, backward)
    count = counts(loop)
    found: ast.expr | None = None
    if not window.guarded and loop is not None and isinstance(loop.iter, ast.Name):
        return f"len({loop.iter.id})"
    if not window.guarded and count is not None and len(count.args) == 1:
        found = count.args[0]
    elif window.guarded:
        place = (*step.path, step.span)[len(backward.path)]
        stands = around(trace.snapshot, place)
        tests = [each.test for each in stands.statements if isinstance(each, ast.If)] if stands is not None else []
        found = next((node.right for test in reversed(tests) for node in ast.walk(test) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)), None)
    span = span_of(trace.snapshot, backward.span.path, found) if isinstance(found, (ast.Name, ast.Attribute, ast.Constant)) else None
    return text(trace.snapshot, span) if span is not None else None
