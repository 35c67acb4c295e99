"""Turning gradients off for an evaluation: a decorator where the whole function only evaluates, else a block around the loop."""

from __future__ import annotations

import ast
from dataclasses import replace

from analysis.finding import Finding, Safety
from analysis.fixes.change import AddDecorator, AddImport, Change, Proposal, Reported, WrapInBlock
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import frames
from analysis.trace.reading import around, span_of


def with_fix(trace: Trace, finding: Finding, begins: Event, forward: Event) -> Reported:
    """The function that only evaluates gets the decorator; a loop in a larger function gets the block."""
    stands = around(trace.snapshot, finding.span)
    path = finding.span.path
    if stands is None or forward.span.path not in trace.snapshot.contents:
        return Reported(replace(finding, no_fix_because="the forward runs in a library"))
    function = stands.function
    changes: tuple[Change, ...] = ()
    if function is not None and begins.path == forward.path[: len(begins.path)] and not learns_in(trace, begins.path) and not _yields(function):
        whole = span_of(trace.snapshot, path, function)
        changes = (AddDecorator(whole, "torch.no_grad()"), AddImport(path, "torch")) if whole else ()
    else:
        loops = (span_of(trace.snapshot, path, each) for each in stands.statements if isinstance(each, (ast.For, ast.While)))
        quiet = next((span for span in loops if span is not None and not _learns_within(trace, span)), None)
        changes = (WrapInBlock(quiet, quiet, "with torch.no_grad():"), AddImport(path, "torch")) if quiet else ()
    if not changes:
        return Reported(replace(finding, no_fix_because="the code around this forward trains too: gradients must be turned off for the evaluation alone"))
    return Reported(finding, Proposal("Evaluate without gradients: torch.no_grad()", Safety.SAFE, changes))


def _yields(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(function))


def learns_in(trace: Trace, path: tuple[Span, ...]) -> bool:
    """Whether a backward runs in the call that ``path`` leads to, or below it."""
    if not path:
        return True
    return any(event.path[: len(path)] == path for event in trace.events(Kind.BACKWARD, Kind.GRADIENT_CALL))


def _learns_within(trace: Trace, loop: Span) -> bool:
    """Whether a backward runs inside the statement, however deep the calls."""
    inside = (span for event in trace.events(Kind.BACKWARD, Kind.GRADIENT_CALL) for span in frames(event))
    return any(loop.holds(span) for span in inside)
