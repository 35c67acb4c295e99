"""Graphs that are carried on: beyond which iteration, and which expression at a place brings one. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from analysis.enclosing import enclosing, expression_at
from analysis.fixes.change import WrapExpression
from analysis.interpreter.values import Stamp
from analysis.library.stores import stamp_of
from analysis.library.tensor import Tensor
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import within

_MOST_ANCESTORS = 300


def moment(store: Event, forward: Event) -> Stamp:
    """The iteration in which a graph is made and kept, if the holder, or the value that is taken in, outlives it; else ()."""
    before = stamp_of(store.subject) if store.detail.since is None else store.detail.since
    shared = 0
    for one, other in zip(store.context.stamp, forward.context.stamp, strict=False):
        if one != other:
            break
        shared += 1
    found = store.context.stamp[:shared]
    return () if within(before, found) else found


def lasting(trace: Trace, store: Event, iteration: Stamp) -> Iterator[Stamp]:
    """The iteration, and those around it that the holder outlives too: a rollout is gathered in a loop of its own before it trains."""
    yield iteration
    if store.detail.since is None:
        for level in range(len(iteration) - 1, 0, -1):
            if not within(stamp_of(store.subject), iteration[:level]) and not _made_anew(trace, store, iteration[:level]):
                yield iteration[:level]


def ends_with_step(trace: Trace, outwards: Sequence[Stamp]) -> bool:
    """Whether what is kept goes when the step of its micro-batches is done: steps are taken, and none in an iteration that it outlives."""
    steps = [event.context.stamp for event in trace.events(Kind.STEP)]
    return bool(steps) and not any(within(step, iteration) for iteration in outwards for step in steps)


def _made_anew(trace: Trace, store: Event, iteration: Stamp) -> bool:
    """Whether another iteration of the same loop keeps the like in another holder: it is made anew in each of them."""
    alike = [event for event in trace.events(Kind.STORE) if event.span == store.span and event.path == store.path]
    others: dict[Stamp, set[int]] = {}
    for event in alike:
        stamp = event.context.stamp[: len(iteration)]
        if stamp != iteration and stamp[:-1] == iteration[:-1] and stamp[-1][0] == iteration[-1][0]:
            others.setdefault(stamp, set()).add(id(event.subject))
    return any(id(store.subject) not in subjects for subjects in others.values())


def begins_anew(trace: Trace, store: Event) -> bool:
    """Whether a running sum is set back while the loop goes on: a later sum in the same run of the loop does not take in the one before."""
    kept = (event for event in trace.events(Kind.STORE) if event.subject is store.subject and event.detail.key == store.detail.key)
    for earlier, later in pairwise(event for event in kept if event.detail.since is not None):
        before, after = earlier.context.stamp, later.context.stamp
        in_one_run = bool(before) and before != after and before[:-1] == after[:-1] and before[-1][0] == after[-1][0]
        if in_one_run and later.detail.since != before:
            return True
    return False


def carrier(source: SourceFile, span: Span, store: Event) -> WrapExpression | None:
    """The operand or argument that brings the graph: the right side of ``+=``, the item appended, the argument that was made of the forward."""
    value = store.value
    if not isinstance(value, Tensor) or store.detail.part:
        return None
    statement = enclosing(source, span).statement
    at = expression_at(source, span)
    match statement, at:
        case ast.AugAssign(value=right), _ if store.span == span and not isinstance(store.subject, (list, dict, set)):
            found = right
        case _, ast.Call(func=ast.Attribute(attr="append" | "add" | "add_" | "appendleft" | "insert"), args=[*_, last]) if store.span == span:
            found = last
        case ast.Expr(value=whole), ast.Call(args=args, keywords=keywords) if whole is at:  # nothing that the call gives may need the graph
            named = _named_after(source, span, value)
            carriers = [each for each in (*args, *(keyword.value for keyword in keywords)) if isinstance(each, ast.Name) and each.id in named]
            if len(carriers) != 1:
                return None
            found = carriers[0]
        case _:
            return None
    return WrapExpression(source.span(found), after=".detach()")


def placed(snapshot: Snapshot, value: Tensor) -> Span | None:
    """Where the function that made ``value`` puts it into a dictionary by its name, if that is one place."""
    source = snapshot.source(value.made.span.path) if value.made is not None and value.made.span.path in snapshot.contents else None
    if not isinstance(source, SourceFile) or value.made is None:
        return None
    function = enclosing(source, value.made.span).function
    nodes = list(walk(function or source.tree))
    assigned = (node for node in nodes if isinstance(node, ast.Assign) and source.span(node.value) == value.made.span)
    names = {target.id for node in assigned for target in node.targets if isinstance(target, ast.Name)}
    found = [each for node in nodes for each in _entries(node) if isinstance(each, ast.Name) and each.id in names]
    return source.span(found[0]) if len(found) == 1 else None


def _entries(node: ast.AST) -> list[ast.expr]:
    """The values of a dictionary as it is written."""
    match node:
        case ast.Dict(values=values):
            return values
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return [keyword.value for keyword in keywords]
        case _:
            return []


def _named_after(source: SourceFile, span: Span, value: Tensor) -> frozenset[str]:
    """Names that the function around ``span`` gives to the value or to what it was made of."""
    spans = {each.made.span for each in ancestors(value) if each.made is not None and each.made.span.path == source.path}
    function = enclosing(source, span).function
    names: set[str] = set()
    for node in walk(function or source.tree):
        if isinstance(node, ast.Assign) and source.span(node.value) in spans:
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return frozenset(names)


def ancestors(*values: Tensor) -> Iterator[Tensor]:
    """The values and what they were made of, each once, without end in a chain that grows: a few hundred of each are enough."""
    todo, seen = [*dict.fromkeys(values)], {*values}
    most = _MOST_ANCESTORS * len(values)
    while todo and len(seen) < most:
        tensor = todo.pop()
        yield tensor
        for before in tensor.made.tensors if tensor.made else ():
            if before not in seen:
                seen.add(before)
                todo.append(before)
