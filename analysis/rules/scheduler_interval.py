"""A schedule is stepped in another rhythm than its length was counted in.

A schedule that is told its length, `OneCycleLR`, `CosineAnnealingLR(T_max=…)`, a linear decay, has to be stepped as often as that length says.
Counted in batches and stepped per epoch it never leaves its warm-up; counted in epochs and stepped per batch it is over, or starts to rise
again, within the first epoch. A schedule that Accelerate has prepared moves on by the number of processes at each step: a length counted on the
sharded loader is used up too soon. One that nothing prepared moves once per step on every rank: a length multiplied by the number of ranks is never
reached. And where several optimizers have schedules, each of them has to be stepped.

**How to fix it.** Step the schedule in the unit of its length: after each `optimizer.step()`, or after each epoch. With Accelerate: count the
length before the loader is prepared, multiply it by `accelerator.num_processes`, or do not prepare the schedule.

**What is not reported.** Schedules without a length; lengths that the source does not tell; a rhythm that an undecided branch changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import MoveStatement, Proposal, Reported
from analysis.interpreter.values import Instance, Symbol, Value
from analysis.library.optimizers import PREPARED
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import Concern, concern, confidence_in, distinct
from analysis.rules._schedules import LENGTHS, counts_ranks, left_behind, stays_behind, times_ranks
from analysis.rules._statements import is_alone
from analysis.rules._windows import loop_at
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible, within
from analysis.trace.reading import statement_of, text

#: So many steps of an optimizer between two of its schedule make an epoch, and so many batches.
_SEVERAL = 3


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How a schedule is stepped: ``epochs`` says how often the loop around its step's rhythm runs, ``batches`` the optimizer's steps in each round."""

    step: Event
    optimizer_step: Event
    per_epoch: bool
    epochs: Value
    batches: int


def check(trace: Trace) -> Iterator[Reported]:
    """Schedules whose length is counted in one unit, and which are stepped in another; those that stay behind."""
    told: set[Span] = set()
    for each in left_behind(trace):
        if each.step.span not in told:
            told.add(each.step.span)
            yield Reported(stays_behind(trace, each))
    for scheduler in distinct(event.subject for event in trace.events(Kind.SCHEDULER_STEP)):
        rhythm = _rhythm(trace, scheduler)
        wrong = _wrong(trace, scheduler, rhythm) if rhythm is not None else None
        if rhythm is not None and wrong is not None:
            yield _reported(trace, scheduler, rhythm, wrong)
        elif counts_ranks(trace, scheduler) and scheduler.span is not None:
            yield Reported(times_ranks(trace, scheduler, scheduler.span))


def _rhythm(trace: Trace, scheduler: Instance) -> Rhythm | None:
    """The rhythm of the first two rounds, if every schedule's step belongs to a loop that steps its optimizer."""
    steps = [event for event in trace.events(Kind.SCHEDULER_STEP) if concern(event.subject, scheduler) is Concern.YES]
    optimizer = scheduler.fields.get("optimizer")
    updates = [event for event in trace.events(Kind.STEP) if concern(event.subject, optimizer) is Concern.YES]
    if not updates or not isinstance(optimizer, Instance) or any(trace.undecided(event) or event.span != steps[0].span for event in steps):
        return None
    inner = updates[0].context.stamp
    if len(inner) < 2 or not trace.complete:  # noqa: PLR2004  epochs and batches
        return None
    epoch = inner[:-1]
    in_first = [event for event in updates if within(event.context.stamp, epoch)]
    stepped = [event for event in steps if within(event.context.stamp, epoch)]
    loop = loop_at(trace, epoch[-1][0])
    if loop is None or len(in_first) < _SEVERAL or any(trace.undecided(event) for event in in_first):
        return None
    if len(stepped) == len(in_first):
        return Rhythm(steps[0], in_first[0], per_epoch=False, epochs=loop.stop, batches=len(in_first))
    if len(stepped) == 1 and stepped[0].context.stamp == epoch:
        return Rhythm(steps[0], in_first[0], per_epoch=True, epochs=loop.stop, batches=len(in_first))
    return None


def _wrong(trace: Trace, scheduler: Instance, rhythm: Rhythm) -> str | None:
    """What is wrong, as the second half of a sentence."""
    options = scheduler.fields.get("scheduler: options", {})
    length = next((options[name] for name in LENGTHS if options.get(name) is not None), None)
    per_epoch = options.get("steps_per_epoch")
    if rhythm.per_epoch:
        whole = isinstance(length, int) and isinstance(rhythm.epochs, int) and length == rhythm.epochs * rhythm.batches
        told = per_epoch is not None and per_epoch != 1 and options.get("epochs") is not None
        return "its length is counted in batches, but it is stepped once per epoch: it hardly leaves its beginning" if told or whole else None
    if length is not None and _same(length, rhythm.epochs):
        return "its length is counted in epochs, but it is stepped with every batch: it is over within the first epoch"
    if (
        trace.distributed
        and _moves_by_processes(scheduler)
        and isinstance(length, int)
        and isinstance(rhythm.epochs, int)
        and length == rhythm.epochs * rhythm.batches
    ):
        return "its length is counted on the sharded loader, but the prepared schedule moves on by the number of processes at each step: it is used up too soon"
    return None


def _same(length: Value, epochs: Value) -> bool:
    if isinstance(length, Symbol):
        return length is epochs
    return isinstance(length, int) and isinstance(epochs, int) and length == epochs and length > _SEVERAL


def _moves_by_processes(scheduler: Instance) -> bool:
    accelerator = scheduler.fields.get(PREPARED)
    options = accelerator.fields.get("accelerate: options", {}) if isinstance(accelerator, Instance) else {}
    return (
        isinstance(accelerator, Instance)
        and "**" not in options
        and not {"step_scheduler_with_optimizer", "split_batches", "dataloader_config"} & options.keys()
    )


def _reported(trace: Trace, scheduler: Instance, rhythm: Rhythm, wrong: str) -> Reported:
    files = trace.snapshot.contents
    by_accelerate = "processes" in wrong
    built = scheduler.span if scheduler.span is not None and scheduler.span.path in files else None
    span = _prepared(trace, scheduler) or visible(rhythm.step, files) if by_accelerate else visible(rhythm.step, files)
    chain = [Evidence(built, "the schedule is told its length")] if built is not None else []
    finding = Finding(
        RULE.name,
        RULE.severity,
        min(confidence_in(scheduler), Confidence.MEDIUM) if by_accelerate else confidence_in(scheduler),
        span,
        f"`{text(trace.snapshot, span)}`: {wrong}",
        (
            *chain,
            Evidence(visible(rhythm.optimizer_step, files), "the optimizer steps with each batch"),
            Evidence(visible(rhythm.step, files), "the schedule is stepped here"),
        ),
    )
    if by_accelerate:
        return Reported(replace(finding, no_fix_because="count the length before the loader is prepared, or do not prepare the schedule"))
    if not rhythm.per_epoch:
        return Reported(replace(finding, no_fix_because="either step the schedule per epoch or give it its length in batches"))
    place, after = statement_of(trace.snapshot, rhythm.step.span), statement_of(trace.snapshot, rhythm.optimizer_step.span)
    if rhythm.step.path != rhythm.optimizer_step.path or place is None or after is None or not is_alone(trace.snapshot, rhythm.step.span):
        return Reported(
            replace(finding, no_fix_because="schedule and optimizer are stepped in different functions: step the schedule after each optimizer step")
        )
    return Reported(finding, Proposal("Step the schedule after each step of the optimizer", Safety.SAFE, (MoveStatement(place, after=after),)))


def _prepared(trace: Trace, scheduler: Instance) -> Span | None:
    """Where the framework took the schedule."""
    place = scheduler.fields.get("prepared: at")
    return place if isinstance(place, Span) and place.path in trace.snapshot.contents else None


RULE = Rule(
    "scheduler-interval",
    Severity.ERROR,
    "a schedule is stepped in another rhythm than its length was counted in",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def train(model, loader, epochs=20):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, steps_per_epoch=len(loader), epochs=epochs)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        scheduler.step()  # flagged
""",
            fixed="""
import torch

def train(model, loader, epochs=20):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, steps_per_epoch=len(loader), epochs=epochs)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            scheduler.step()
""",
        ),
        Bad(
            """
import torch

def train(model, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            scheduler.step()  # flagged
"""
        ),
        Bad(
            """
import torch
from accelerate import Accelerator
from transformers import get_linear_schedule_with_warmup

def train(model, data, epochs=20):
    accelerator = Accelerator()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(data, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    scheduler = get_linear_schedule_with_warmup(optimizer, 10, epochs * len(loader))
    scheduler = accelerator.prepare(scheduler)  # flagged
    for epoch in range(epochs):
        for x, y in loader:
            accelerator.backward(torch.nn.functional.mse_loss(model(x), y))
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
"""
        ),
        Good(
            """
import torch
from accelerate import Accelerator
from transformers import get_linear_schedule_with_warmup

def train(model, data, epochs=20):
    accelerator = Accelerator()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(data, shuffle=True)
    scheduler = get_linear_schedule_with_warmup(optimizer, 10, epochs * len(loader))
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    for epoch in range(epochs):
        for x, y in loader:
            accelerator.backward(torch.nn.functional.mse_loss(model(x), y))
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
"""
        ),
        Good(
            """
import torch

def train(model, loader, epochs=20):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * len(loader))
    for epoch in range(epochs):
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

def train(model, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        scheduler.step()
"""
        ),
    ),
)
