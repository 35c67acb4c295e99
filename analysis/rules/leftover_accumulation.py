"""The last micro-batches of an epoch do not fill a window, and nothing takes care of them.

Unless the number of batches is a multiple of the window, an epoch ends in the middle of one. What is left over then leaks into the first step
of the next epoch, which sums more micro-batches than the loss was divided by, or it is thrown away by the next clearing.

The same comes of a loop that counts from one while the condition counts from zero, `for i, x in enumerate(loader, start=1)` with `(i + 1) % steps`:
the first window of each epoch has one micro-batch fewer than the loss is divided by, and what it lacks is left over at the end.

**How to fix it.** Step at the end of the epoch too: `if (i + 1) % steps == 0 or i + 1 == len(loader):`; count in one way.

**What is not reported.** A counter that runs on through all epochs without a clearing in between; frameworks that end a window with the
epoch; loops over a number of steps instead of a loader; loops that leave batches out by their count; a single epoch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, Reported, WrapExpression
from analysis.interpreter.values import Instance
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradients import gradients_of
from analysis.rules._windows import Window, counts, loop_source, windows
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event
from analysis.trace.places import frames, meeting, visible
from analysis.trace.reading import around, dotted, span_of, text

#: A first window of fewer micro-batches is what ``i % n == 0`` gives, which steps at the very first.
_SEVERAL = 2


def check(trace: Trace) -> Iterator[Reported]:
    """Windows that begin in one epoch and end in the next, longer or shorter than the others."""
    for gradients in gradients_of(trace):
        found = windows(trace, gradients)
        full = next((window for window in found if window.stepped), None)
        if full is None or not _is_window(trace, full):
            continue
        if _is_short(found, full):
            yield _reported_short(trace, full)
        for window in found:
            tail = _tail(window, full)
            if tail is not None:
                yield _reported(trace, full, window, tail)
                break


def _is_window(trace: Trace, full: Window) -> bool:
    """Whether the first step ends a window of several micro-batches of a loader, under the program's own hands."""
    if full.unsure or not full.guarded or not full.in_one_loop() or isinstance(full.backwards[0].subject, Instance):
        return False
    loop = loop_source(trace, full.backwards[0])
    return loop is not None and counts(loop) is None and not _leaves_out(loop)


def _is_short(found: list[Window], full: Window) -> bool:
    """Whether the first window of an epoch, of several micro-batches, has one fewer than the next of the same epoch."""
    after = next((window for window in found[found.index(full) + 1 :] if window.stepped), None)
    if after is None or after.unsure or not after.in_one_loop() or len(full.backwards) < _SEVERAL or len(after.backwards) != len(full.backwards) + 1:
        return False
    first, second = full.backwards[0].context.stamp, after.backwards[0].context.stamp
    return first[:-1] == second[:-1] and first[-1][1] == 0 and frames(full.backwards[0]) == frames(after.backwards[0])


def _reported_short(trace: Trace, full: Window) -> Reported:
    backward = full.backwards[0]
    step = full.end or backward
    span = _test(trace, step) or visible(step, trace.snapshot.contents)
    return Reported(
        Finding(
            RULE.name,
            RULE.severity,
            Confidence.MEDIUM,
            span,
            f"`{text(trace.snapshot, span)}` ends the first window of each epoch one micro-batch early, as if the loop counted from zero: "
            "its gradient lacks one of those that the loss is divided by, and the last window is never full",
            (
                Evidence(visible(backward, trace.snapshot.contents), "the first micro-batch of an epoch"),
                Evidence(visible(step, trace.snapshot.contents), "the first step comes one sooner than each later one"),
            ),
            no_fix_because="either the loop has to count from zero or the condition from one, and other uses of the counter decide which",
        )
    )


def _leaves_out(loop: ast.For) -> bool:
    """Whether the loop passes over batches by what it counts: ``if step >= steps_per_epoch: continue``."""
    if not isinstance(loop.iter, ast.Call) or not isinstance(loop.target, ast.Tuple) or not isinstance(loop.target.elts[0], ast.Name):
        return False
    counted = {loop.target.elts[0].id}
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _names(value) & counted:
                counted.add(name)
            case ast.If(test=ast.Compare(ops=[ast.GtE() | ast.Gt() | ast.Eq()]) as test, body=[*_, ast.Continue() | ast.Break()]) if _names(test) & counted:
                return True
    return False


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _tail(window: Window, full: Window) -> Event | None:
    """The last backward of an epoch whose gradients another epoch takes or clears."""
    first = full.backwards[0]
    if window.unsure or window.end is None or any(frames(event) != frames(first) for event in window.backwards):
        return None
    if len(window.backwards) >= len(full.backwards) and not (window.stepped and len(window.backwards) > len(full.backwards)):
        return None
    start = window.backwards[0].context.stamp
    last = [event for event in window.backwards if event.context.stamp[:-1] == start[:-1]][-1]
    ends = window.end.context.stamp
    if start[:-1] and ends[: len(start) - 1] != start[:-1] and _same_loop(ends, start[:-1]):
        return last
    return None


def _same_loop(stamp: tuple[tuple[int, int], ...], iteration: tuple[tuple[int, int], ...]) -> bool:
    """Whether ``stamp`` lies in another iteration of the same loop."""
    depth = len(iteration)
    return len(stamp) >= depth and stamp[: depth - 1] == iteration[:-1] and stamp[depth - 1][0] == iteration[-1][0]


def _reported(trace: Trace, full: Window, window: Window, tail: Event) -> Reported:
    files = trace.snapshot.contents
    end, step = window.end or tail, full.end or tail
    span = meeting(step, tail, files) if window.stepped else meeting(end, tail, files)
    effect = "leak into the first step of the next epoch" if window.stepped else "are thrown away at the start of the next epoch"
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM,
        span,
        f"micro-batches that are left over at the end of an epoch {effect}: nothing steps unless the number of batches is a multiple of the window",
        (
            Evidence(visible(step, files), "a step runs once per window"),
            Evidence(visible(tail, files), "an epoch ends with gradients that no step has used"),
            Evidence(visible(end, files), "here they are " + ("added to the next epoch's first window" if window.stepped else "cleared")),
        ),
    )
    test, loop = _test(trace, step), loop_source(trace, tail)
    names = _counter(loop)
    if test is None or names is None or not text(trace.snapshot, test).startswith(f"({names[0]} + 1) % "):
        return Reported(replace(finding, no_fix_because="how this loop counts its batches is not plain: step once more after the last batch of an epoch"))
    change = WrapExpression(test, after=f" or {names[0]} + 1 == len({names[1]})")
    return Reported(finding, Proposal("Does the loader know its length? Then step after its last batch too", Safety.REVIEW, (change,)))


def _test(trace: Trace, step: Event) -> Span | None:
    """The condition under which the step runs."""
    stands = around(trace.snapshot, step.span)
    found = next((each for each in reversed(stands.statements) if isinstance(each, ast.If)), None) if stands is not None else None
    return span_of(trace.snapshot, step.span.path, found.test) if found is not None else None


def _counter(loop: ast.For | None) -> tuple[str, str] | None:
    """``i`` and ``loader`` of ``for i, batch in enumerate(loader)``."""
    match loop:
        case ast.For(target=ast.Tuple(elts=[ast.Name(id=counter), _]), iter=ast.Call(func=ast.Name(id="enumerate"), args=[loader])):
            name = dotted(loader)
            return (counter, name) if name is not None else None
        case _:
            return None


_FROM_ONE = """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader, start=1):
        (torch.nn.functional.mse_loss(model(x), y) / 4).backward()
        if {test}:{mark}
            optimizer.step()
            optimizer.zero_grad()
"""

RULE = Rule(
    "leftover-accumulation",
    Severity.WARNING,
    "an epoch ends in the middle of an accumulation window",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        for i, (x, y) in enumerate(loader):
            (torch.nn.functional.mse_loss(model(x), y) / 4).backward()
            if (i + 1) % 4 == 0:
                optimizer.step()  # flagged
                optimizer.zero_grad()
""",
            fixed="""
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        for i, (x, y) in enumerate(loader):
            (torch.nn.functional.mse_loss(model(x), y) / 4).backward()
            if (i + 1) % 4 == 0 or i + 1 == len(loader):
                optimizer.step()
                optimizer.zero_grad()
""",
        ),
        Bad(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = 0
    for epoch in range(10):
        optimizer.zero_grad()  # flagged
        for x, y in loader:
            seen += 1
            (torch.nn.functional.mse_loss(model(x), y) / 4).backward()
            if seen % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
"""
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = 0
    for epoch in range(10):
        for x, y in loader:
            seen += 1
            (torch.nn.functional.mse_loss(model(x), y) / 4).backward()
            if seen % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
"""
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        for i, (x, y) in enumerate(loader):
            (torch.nn.functional.mse_loss(model(x), y) / 4).backward()
            if (i + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
        optimizer.step()
        optimizer.zero_grad()
"""
        ),
        Good(
            """
import torch

def train(model, loader, window, steps_per_epoch):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        optimizer.zero_grad()
        for i, (x, y) in enumerate(loader):
            step = i // window
            if step >= steps_per_epoch:
                continue
            (torch.nn.functional.mse_loss(model(x), y) / window).backward()
            if (i + 1) % window == 0:
                optimizer.step()
                optimizer.zero_grad()
"""
        ),
        Bad(_FROM_ONE.format(test="(i + 1) % 4 == 0", mark="  # flagged")),
        Good(_FROM_ONE.format(test="i % 4 == 0 or i == len(loader)", mark="")),
    ),
)
