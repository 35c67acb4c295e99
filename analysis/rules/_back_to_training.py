"""The fix of training that runs in evaluation mode: where ``train()`` belongs. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety
from analysis.fixes.change import InsertAfter, InsertBefore, Proposal, Reported
from analysis.rules._objects import forward_numbers, numbers_in
from analysis.snapshot import Snapshot
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import frames, meeting, visible
from analysis.trace.reading import around, call_at, callee, dotted, receiver, span_of, statement_of

#: Where a model is built and where it trains; a third step names the function that back-propagates elsewhere.
_OF_ONE_FUNCTION = 2


def back_to_training(trace: Trace, finding: Finding, learns: Event) -> Reported:
    """Before the outermost loop around the training forward in its function."""
    snapshot = trace.snapshot
    name, stands = callee(snapshot, finding.span), around(snapshot, finding.span)
    loops = [] if stands is None else [each for each in stands.statements if isinstance(each, (ast.For, ast.While))]
    where = statement_of(snapshot, finding.span) if not loops else span_of(snapshot, finding.span.path, loops[0])
    if len(finding.evidence) > _OF_ONE_FUNCTION:
        return Reported(replace(finding, no_fix_because="the forward may also run for evaluations: train() belongs into the function that back-propagates"))
    if name is None or where is None or finding.span != learns.span:
        return Reported(replace(finding, no_fix_because="the model has no name where the training forward runs"))
    return Reported(finding, Proposal(f"Train in training mode: {name}.train()", Safety.SAFE, (InsertBefore(where, (f"{name}.train()",)),)))


def after_evaluation(trace: Trace, finding: Finding, name: str, left: Event, learns: Event) -> Reported:
    """After the call that evaluates, if the model has a name there; else before the forward that trains, if nothing evaluates through it."""
    snapshot, span = trace.snapshot, finding.span
    trains = meeting(learns, left, snapshot.contents)
    after, before = statement_of(snapshot, span), statement_of(snapshot, trains)
    if name == "the model" or after is None or before is None or learns.span.path not in snapshot.contents:
        return Reported(replace(finding, no_fix_because="the model has no name where the training forward runs"))
    change: InsertAfter | InsertBefore
    if not _named_at(snapshot, trains, learns.span, name):
        if _evaluates_too(trace, learns.span):
            return Reported(replace(finding, no_fix_because="evaluations run through this forward too: train() belongs where training goes on"))
        change = InsertBefore(statement_of(snapshot, learns.span) or before, (f"{name}.train()",))
    else:
        change = InsertAfter(after, (f"{name}.train()",)) if span != left.span else InsertBefore(before, (f"{name}.train()",))
    return Reported(finding, Proposal(f"Go back to training mode: {name}.train()", Safety.SAFE, (change,)))


def _named_at(snapshot: Snapshot, trains: Span, forward: Span, name: str) -> bool:
    """Whether ``name`` is the model at ``trains`` as well: the forward itself, or a call that is handed the model under that name."""
    call = call_at(snapshot, trains)
    handed = [] if call is None else [*call.args, *(keyword.value for keyword in call.keywords)]
    return trains == forward or any(dotted(value) == name for value in handed)


def _evaluates_too(trace: Trace, forward: Span) -> bool:
    """Whether the call at ``forward`` also runs for outputs that nothing back-propagates."""
    learned = numbers_in(event.value for event in trace.events(Kind.BACKWARD))
    return any(event.span == forward and not forward_numbers(event) & learned for event in trace.events(Kind.FORWARD))


def where_left(trace: Trace, left: Event, learns: Event) -> Span:
    """Where evaluation and training meet; inside an object that does both itself, since its caller does not know the model."""
    files = trace.snapshot.contents
    span = meeting(left, learns, files)
    owner = receiver(trace.snapshot, span)
    way = frames(left)
    if span in way and span != way[0] and way[way.index(span) - 1].path not in files:
        return visible(left, files)  # a framework calls both: no caller of the repository sees them
    if owner in {None, "self"} or receiver(trace.snapshot, meeting(learns, left, files)) != owner:
        return span
    inwards = [each for each in frames(left) if each.path in files]
    return inwards[min(inwards.index(span) + 1, len(inwards) - 1)]


def mode_evidence(trace: Trace, left: Event, learns: Event) -> tuple[Evidence, ...]:
    """What put the model in evaluation mode, and the forward that finds it so."""
    files = trace.snapshot.contents
    return (
        Evidence(visible(left, files), "the evaluation puts the model in evaluation mode"),
        Evidence(visible(learns, files), "this training forward still runs in that mode: nothing has called train() since"),
    )
