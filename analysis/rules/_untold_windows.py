"""Where ``accelerator.accumulate()`` is used and the accelerator was never told a window. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.interpreter.values import Instance, Symbol, Value
from analysis.rules._scaling import scaling_of
from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import frames

#: What Accelerate, Transformers and DeepSpeed call the number of micro-batches in a window.
_WINDOW = "accumulation_steps"


@dataclass(frozen=True, slots=True)
class Untold:
    """A backward inside ``accumulate()`` of an accelerator that knows no window. ``divided``: its loss is divided by one, at ``span``."""

    backward: Event
    accelerator: Instance
    span: Span
    divided: bool


def never_told(trace: Trace) -> Iterator[Untold]:
    """Each place once: with a loss that is divided by a window, or where the program speaks of one that has no effect."""
    told: set[Span] = set()
    for event in trace.events(Kind.BACKWARD):
        by = event.subject
        if not isinstance(by, Instance) or not by.fields.get("accelerate: calls") or not isinstance(by.fields.get("accelerate: options"), dict):
            continue
        given = by.fields["accelerate: options"]
        if by.assumed or by.fields.get("gradient_accumulation_steps") != 1 or any(key.startswith("gradient_accumulation") or key == "**" for key in given):
            continue
        divided = [each.made.span for each in scaling_of(event.value).divided if _may_be_window(each.divisor)]
        span = next((each for each in divided if each.path in trace.snapshot.contents), by.span)
        if span is not None and span not in told and span.path in trace.snapshot.contents and (divided or _has_window(trace, event, span)):
            told.add(span)
            yield Untold(event, by, span, bool(divided))


def _may_be_window(divisor: Value) -> bool:
    return (isinstance(divisor, Symbol) and divisor.stamp == ()) or (isinstance(divisor, int) and divisor > 1)


def _has_window(trace: Trace, backward: Event, built: Span) -> bool:
    """Whether the program speaks of a number of steps to accumulate, which never reaches the accelerator: without one, a window of one is meant."""
    paths = {built.path, *(span.path for span in frames(backward))}
    return any(_WINDOW.encode() in trace.snapshot.contents[path] and _speaks(trace, path) for path in paths if path in trace.snapshot.contents)


def _speaks(trace: Trace, path: str) -> bool:
    """Whether the code does, by a name or a key: what a comment or a docstring tells a reader is no window of this program."""
    source = trace.snapshot.source(path)
    return isinstance(source, SourceFile) and any(_WINDOW in _word(node) for node in walk(source.tree))


def _word(node: ast.AST) -> str:
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.arg(arg=word) | ast.keyword(arg=str(word)):
            return word
        case ast.Constant(value=str(word)) if not any(letter.isspace() for letter in word):
            return word
        case _:
            return ""
