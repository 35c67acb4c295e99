"""The schedule is stepped before the optimizer.

PyTorch expects `optimizer.step()` first. The other way round the first learning rate of the schedule is never used, every later one comes a
step too early, and PyTorch warns once.

**How to fix it.** Call `scheduler.step()` after `optimizer.step()`, in the same rhythm.

**What is not reported.** Schedules that are told the epoch or a metric; steps before the training loop (to resume, or to set the first
rate); a step that a gradient scaler may skip; repositories that ask for PyTorch below 1.1, where the schedule came first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import MoveStatement, Proposal, Reported
from analysis.interpreter.values import Instance
from analysis.pins import asks_below
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import Concern, concern, confidence_in, distinct
from analysis.rules._statements import is_alone, siblings
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import meeting, visible, within
from analysis.trace.reading import text

#: The release of PyTorch since which the optimizer is stepped first.
_OPTIMIZER_FIRST = (1, 1)


def check(trace: Trace) -> Iterator[Reported]:
    """A schedule whose first step comes before the first one of its optimizer, in an iteration that steps both."""
    for scheduler in distinct(event.subject for event in trace.events(Kind.SCHEDULER_STEP)):
        optimizer = scheduler.fields.get("optimizer") or _only_one(trace)
        first = next((event for event in trace.events(Kind.SCHEDULER_STEP, Kind.STEP) if _concerns(event, scheduler, optimizer)), None)
        if first is None or first.kind is Kind.STEP or first.detail or trace.undecided(first) or not first.context.stamp:
            continue
        step = next((event for event in trace.events(Kind.STEP) if concern(event.subject, optimizer) is Concern.YES), None)
        if step is None or not _in_one_iteration(first, step) or trace.undecided(step):
            continue
        if not asks_below(trace.snapshot, "torch", _OPTIMIZER_FIRST):
            yield _reported(trace, scheduler, first, step)


def _in_one_iteration(early: Event, step: Event) -> bool:
    """Whether the optimizer steps in the iteration that stepped the schedule before, perhaps in a loop over callbacks or schedules of that iteration."""
    return within(step.context.stamp, early.context.stamp) or (bool(step.context.stamp) and within(early.context.stamp, step.context.stamp))


def _only_one(trace: Trace) -> Instance | None:
    """The optimizer of a schedule that was made elsewhere, where no other steps."""
    stepped = distinct(event.subject for event in trace.events(Kind.STEP))
    return stepped[0] if len(stepped) == 1 else None


def _concerns(event: Event, scheduler: Instance, optimizer: object) -> bool:
    if event.kind is Kind.SCHEDULER_STEP:
        return concern(event.subject, scheduler) is not Concern.NO
    # A step of an optimizer that is not known may be the one.
    return not isinstance(optimizer, Instance) or concern(event.subject, optimizer) is not Concern.NO


def _reported(trace: Trace, scheduler: Instance, early: Event, step: Event) -> Reported:
    files = trace.snapshot.contents
    span = meeting(early, step, files)
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(scheduler),
        span,
        f"`{text(trace.snapshot, span)}` comes before `{text(trace.snapshot, visible(step, files))}`: "
        "the first learning rate is skipped, and every other comes a step early",
        (Evidence(visible(early, files), "the schedule moves on"), Evidence(visible(step, files), "only then the optimizer steps for the first time")),
    )
    places = siblings(trace.snapshot, early.span, step.span) if early.path == step.path else None
    if places is None or not is_alone(trace.snapshot, early.span):
        return Reported(replace(finding, no_fix_because="schedule and optimizer are stepped in different places: step the schedule last"))
    title = "Does nothing in between read the learning rate? Then step the schedule after the optimizer"
    return Reported(finding, Proposal(title, Safety.REVIEW, (MoveStatement(places[0], after=places[1]),)))


RULE = Rule(
    "scheduler-before-optimizer",
    Severity.WARNING,
    "the schedule is stepped before the optimizer",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10)
    for epoch in range(30):
        scheduler.step()  # flagged
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
""",
            fixed="""
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10)
    for epoch in range(30):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        scheduler.step()
""",
        ),
        Good(
            """
import torch

def train(model, loader, start):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10)
    for _ in range(start):
        scheduler.step()
    for epoch in range(start, 30):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        scheduler.step()
"""
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=30)
    for epoch in range(30):
        scheduler.step(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
"""
        ),
    ),
)
