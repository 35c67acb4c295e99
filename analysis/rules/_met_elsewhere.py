"""What the source shows of ranks that seem to miss a collective: they come to it by another way, or do not run yet."""

from __future__ import annotations

import ast

from analysis.source import Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event, RankGuard
from analysis.trace.places import frames
from analysis.trace.reading import around, call_at, span_of

_STARTS = frozenset({"spawn", "start_processes"})


def is_met_elsewhere(trace: Trace, event: Event, guard: RankGuard) -> bool:
    """Whether one of the two holds for the collective ``event`` behind ``guard``."""
    return _starts_ranks(trace, guard.span) or _is_handed_over(trace, event, guard)


def _starts_ranks(trace: Trace, condition: Span) -> bool:
    """Whether the function around the condition starts the processes: it runs before there are ranks."""
    stands = around(trace.snapshot, condition)
    return stands is not None and stands.function is not None and any(_called(node) in _STARTS for node in walk(stands.function))


def _is_handed_over(trace: Trace, event: Event, guard: RankGuard) -> bool:
    """Whether the other side of the condition calls the function that leads to the collective, or gives it to somebody who may.

    The run may have ended before it came to that call.
    """
    stands = around(trace.snapshot, guard.span)
    test = next((each for each in reversed(stands.statements) if isinstance(each, ast.If)), None) if stands is not None else None
    if test is None or span_of(trace.snapshot, guard.span.path, test.test) != guard.span:
        return False
    called = {_called(call) for span in frames(event) if (call := call_at(trace.snapshot, span)) is not None}
    own = {id(part) for part in (test.body, test.orelse) if any(_holds(trace, each, guard.span.path, event) for each in part)}
    others = [each for part in (test.body, test.orelse) if id(part) not in own for each in part]
    if any(isinstance(each, ast.Expr | ast.Assign) and _called(each.value) in called - {""} for each in others):
        return True
    calls = (node for each in others for node in walk(each) if isinstance(node, ast.Call))
    given = (each for node in calls for each in (*node.args, *(keyword.value for keyword in node.keywords)))
    return any(isinstance(each, ast.Name) and each.id in called for each in given)


def _holds(trace: Trace, statement: ast.stmt, path: str, event: Event) -> bool:
    """Whether the event, or a call that leads to it, stands in the statement."""
    whole = span_of(trace.snapshot, path, statement)
    return whole is not None and any(whole.holds(span) for span in frames(event))


def _called(node: ast.AST) -> str:
    """The last name of what a call calls."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""
