"""A schedule is stepped in another rhythm than its length was counted in.

A schedule that is told its length, `OneCycleLR`, `CosineAnnealingLR(T_max=…)`, a linear decay, has to be stepped as often as that length says.
Counted in batches and stepped per epoch it never leaves its warm-up; counted in epochs and stepped per batch it is over, or starts to rise
again, within the first epoch. A schedule that Accelerate has prepared moves on by the number of processes at each step: a length counted on the
sharded loader is used up too soon. One that nothing prepared moves once per step on every rank: a length multiplied by the number of ranks is never
reached. And where several optimizers have schedules, each of them has to be stepped. A learning rate that a function of the program computes from the
number of batches so far is told its length too.

**How to fix it.** Step the schedule in the unit of its length: after each `optimizer.step()`, or after each epoch. With Accelerate: count the
length before the loader is prepared, or times `accelerator.num_processes` after it, not both; or do not prepare the schedule.

**What is not reported.** Schedules without a length; lengths that the source does not tell; a rhythm that an undecided branch changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import MoveStatement, Proposal, Reported
from analysis.interpreter.values import Instance, Symbol, Value
from analysis.library.optimizers import PREPARED
from analysis.rule import Bad, Good, Rule
from analysis.rules._counted_whole import counted_whole, told_too_much
from analysis.rules._hand_written import out_of_step
from analysis.rules._objects import confidence_in, distinct
from analysis.rules._rhythms import SEVERAL, Rhythm, is_cycle_of_batches, passed_at_once, rhythm_of, rhythm_of_micro_batches
from analysis.rules._schedules import counted_in_batches, counts_on, counts_ranks, left_behind, length_of, stays_behind, times_ranks
from analysis.rules._statements import is_alone
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Kind
from analysis.trace.places import visible
from analysis.trace.reading import statement_of, text


def check(trace: Trace) -> Iterator[Reported]:
    """Schedules whose length is counted in one unit, and which are stepped in another; those that stay behind."""
    told: set[Span] = set()
    yield from (Reported(counts_on(trace, each)) for each in {each.span: each for each in out_of_step(trace)}.values())
    for each in left_behind(trace):
        if each.step.span not in told:
            told.add(each.step.span)
            yield Reported(stays_behind(trace, each))
    for scheduler in distinct(event.subject for event in trace.events(Kind.SCHEDULER_STEP)):
        rhythm = rhythm_of(trace, scheduler)
        wrong = _wrong(trace, scheduler, rhythm) if rhythm is not None else None
        if wrong is None and PREPARED not in scheduler.fields and (other := rhythm_of_micro_batches(trace, scheduler, length_of(scheduler))) is not None:
            rhythm, wrong = other
        if rhythm is not None and wrong is not None:
            yield _reported(trace, scheduler, rhythm, wrong)
        elif trace.distributed and _moves_by_processes(scheduler) and (found := counted_whole(trace, scheduler)) is not None:
            yield Reported(told_too_much(scheduler, found))
        elif counts_ranks(trace, scheduler) and scheduler.span is not None:
            yield Reported(times_ranks(trace, scheduler, scheduler.span))


def _wrong(trace: Trace, scheduler: Instance, rhythm: Rhythm) -> str | None:
    """What is wrong, as the second half of a sentence."""
    options, length = scheduler.fields.get("scheduler: options", {}), length_of(scheduler)
    per_epoch = options.get("steps_per_epoch")
    whole = isinstance(length, int) and isinstance(rhythm.epochs, int) and length == rhythm.epochs * rhythm.batches
    if rhythm.per_epoch:
        told = (per_epoch is not None and per_epoch != 1 and options.get("epochs") is not None) or is_cycle_of_batches(scheduler, rhythm.epochs)
        return "its length is counted in batches, but it is stepped once per epoch: it hardly leaves its beginning" if told or whole else None
    if (early := passed_at_once(scheduler, rhythm.epochs)) is not None:
        return early
    if length is not None and _same(length, rhythm.epochs) and not counted_in_batches(trace, scheduler):
        return "its length is counted in epochs, but it is stepped with every batch: it is over within the first epoch"
    if whole and trace.distributed and _moves_by_processes(scheduler):
        return "its length is counted on the sharded loader, but the prepared schedule moves on by the number of processes at each step: it is used up too soon"
    return None


def _same(length: Value, epochs: Value) -> bool:
    if isinstance(length, Symbol):
        return length is epochs
    return isinstance(length, int) and isinstance(epochs, int) and length == epochs and length > SEVERAL


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
    by_framework = rhythm.step.span.path not in files
    span = visible(rhythm.step, files)
    if by_accelerate:
        span = _prepared(trace, scheduler) or span
    elif by_framework and built is not None:
        span = built
    chain = [Evidence(built, "the schedule is told its length")] if built is not None else []
    finding = Finding(
        RULE.name,
        RULE.severity,
        min(confidence_in(scheduler), Confidence.MEDIUM) if by_accelerate else confidence_in(scheduler),
        span,
        f"`{text(trace.snapshot, span)}`: {wrong}",
        (
            *chain,
            Evidence(visible(rhythm.optimizer_step, files), "the optimizer is stepped here"),
            Evidence(visible(rhythm.step, files), "the framework steps the schedule in here" if by_framework else "the schedule is stepped here"),
        ),
    )
    if by_accelerate:
        return Reported(replace(finding, no_fix_because="count the length before the loader is prepared, or do not prepare the schedule"))
    if by_framework:
        return Reported(replace(finding, no_fix_because='the framework steps it once per epoch unless it is told "interval": "step" beside the schedule'))
    if not rhythm.per_epoch:
        return Reported(replace(finding, no_fix_because="step the schedule in the unit of its length, or count its length in the unit in which it is stepped"))
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


_LIT = """
import lightning.pytorch as pl
import torch

class Net(pl.LightningModule):
    def __init__(self, steps):
        super().__init__()
        self.net, self.steps = torch.nn.Linear(8, 1), steps

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, epochs=30, steps_per_epoch=self.steps){mark}
        return {returned}

def main(loader):
    pl.Trainer(max_epochs=30).fit(Net(len(loader)), loader)
"""

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
        Good(
            """
import torch

def train(model, loader, epochs=10):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    warm_up = min(1000, len(loader) - 1)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=warm_up)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            scheduler.step()
"""
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
        Bad(_LIT.format(returned="[optimizer], [schedule]", mark="  # flagged")),
        Good(_LIT.format(returned='{"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}', mark="")),
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
