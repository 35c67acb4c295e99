"""Ranks that seem to miss a collective: they come to it by another way, are told by a file, serve others without end, or do not run yet."""

from __future__ import annotations

import ast

from analysis.library.decisions import FILE_TESTS
from analysis.source import Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event, RankGuard
from analysis.trace.places import frames
from analysis.trace.reading import around, call_at, span_of

_STARTS = frozenset({"spawn", "start_processes"})


def is_met_elsewhere(trace: Trace, event: Event, guard: RankGuard) -> bool:
    """Whether one of them holds for the collective ``event`` behind ``guard``."""
    found = _starts_ranks(trace, guard.span) or _is_called_there(trace, event, guard) or _is_told_by_file(trace, event, guard)
    return found or _serves(trace, event, guard)


def _starts_ranks(trace: Trace, condition: Span) -> bool:
    """Whether the function around the condition starts the processes: it runs before there are ranks."""
    stands = around(trace.snapshot, condition)
    return stands is not None and stands.function is not None and any(_called(node) in _STARTS for node in walk(stands.function))


def _is_called_there(trace: Trace, event: Event, guard: RankGuard) -> bool:
    """Whether the other side of the condition calls what leads to the collective, before which the run may have ended, or hands it to who may call it."""
    leading = {name for span in frames(event) if (call := call_at(trace.snapshot, span)) is not None and (name := _called(call))}
    leading |= {event.context.function.rpartition(".")[2]} - {""}  # a generator's body, which runs where it is gone through
    for statement in _other_side(trace, event, guard):
        if isinstance(statement, ast.Expr | ast.Assign) and _called(statement.value) in leading:
            return True
        calls = (node for node in walk(statement) if isinstance(node, ast.Call))
        given = (each for node in calls for each in (*node.args, *(keyword.value for keyword in node.keywords)))
        if any((each.id if isinstance(each, ast.Name) else _called(each)) in leading for each in given):
            return True
    return False


def _is_told_by_file(trace: Trace, event: Event, guard: RankGuard) -> bool:
    """Whether the same collective is called further on, where a file that one rank writes tells the others what has been done."""
    stands, call = around(trace.snapshot, guard.span), call_at(trace.snapshot, event.span)
    if stands is None or stands.function is None or call is None or event.span.path != guard.span.path:
        return False
    asking = (each for each in walk(stands.function) if isinstance(each, ast.If) and any(_called(node) in FILE_TESTS for node in walk(each.test)))
    inside = (node for each in asking for node in walk(each) if isinstance(node, ast.Call) and node is not call)
    return any(
        _called(node) == _called(call) and (at := span_of(trace.snapshot, guard.span.path, node)) is not None and at.start > event.span.end for node in inside
    )


def _serves(trace: Trace, event: Event, guard: RankGuard) -> bool:
    """Whether the ranks behind the condition go round without end there: they serve those that call them from elsewhere."""
    here = (around(trace.snapshot, span) for span in frames(event) if span.path == guard.span.path)
    whiles = (each for stands in here if stands is not None for each in stands.statements if isinstance(each, ast.While))
    endless = (each for each in whiles if isinstance(each.test, ast.Constant) and each.test.value)
    spans = (span_of(trace.snapshot, guard.span.path, each) for each in endless)
    return any(span is not None and span.start > guard.span.end for span in spans)


def _other_side(trace: Trace, event: Event, guard: RankGuard) -> list[ast.stmt]:
    """The statements behind the condition that the event does not stand in."""
    stands = around(trace.snapshot, guard.span)
    test = next((each for each in reversed(stands.statements) if isinstance(each, ast.If)), None) if stands is not None else None
    if test is None or span_of(trace.snapshot, guard.span.path, test.test) != guard.span:
        return []
    sides = (test.body, test.orelse)
    return [each for side in sides if not any(_holds(trace, own, guard.span.path, event) for own in side) for each in side]


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
