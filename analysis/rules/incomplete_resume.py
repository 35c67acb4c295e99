"""A resumed run forgets the state of its optimizer, scheduler or gradient scaler.

A run that restores the model and the optimizer but not the scheduler goes on with the learning rate of its first step, warm-up and all; without the
scaler's state it begins with a scale that was never tried and skips steps until it fits; without the optimizer's, which the checkpoint holds, with
moments of zero. The loss jumps at every resume, and nothing complains.

**How to fix it.** Save `scheduler.state_dict()` and `scaler.state_dict()` beside the optimizer's, and load all of them where the optimizer's is loaded.

**What is not reported.** Programs that restore no optimizer, as far as they can be seen to: a checkpoint's entry is one of them if some code in its files
loads a state from an entry of that name; schedulers that are told where they are (`last_epoch=`) or stepped up to there; objects that
code which was not followed may restore; frameworks that save everything themselves; scalers that are switched off.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.interpreter.values import Instance, Symbol
from analysis.rule import Bad, Good, Rule
from analysis.rules._entries import counts_on, keys_of, loaded_from, reads
from analysis.rules._objects import Concern, concern, distinct
from analysis.rules._resumed_schedules import is_caught_up, is_told
from analysis.source import Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import frames, meeting, visible
from analysis.trace.reading import around, text


def check(trace: Trace) -> Iterator[Reported]:
    """Optimizers that are restored while their scheduler or scaler is not."""
    restored = distinct(event.subject for event in trace.events(Kind.RESTORE))
    optimizers = distinct(event.subject for event in trace.events(Kind.STEP))
    for event in trace.events(Kind.RESTORE):
        if any(event.subject is optimizer for optimizer in optimizers):
            lost = [each for each in _companions(trace, event.subject) if not any(each is known for known in restored)]
            if lost:
                yield _reported(trace, event, lost)
                return
    if not any(event.subject is optimizer for event in trace.events(Kind.RESTORE) for optimizer in optimizers):
        yield from (*_not_saved(trace, optimizers), *_left_out(trace, optimizers))


def _left_out(trace: Trace, optimizers: list[Instance]) -> Iterator[Reported]:
    """Optimizers whose state is saved and not restored, where that of a scheduler or scaler beside it is: in this run, or by code that did not run."""
    touched = [each for event in trace.events(Kind.OPAQUE) for each in event.subject]
    for optimizer in optimizers:
        for save, held in _saves(trace, optimizer) if not any(each is optimizer for each in touched) else ():
            captures = {id(event.subject): event for event in trace.events(Kind.CAPTURE) if any(event.value is each for each in save.value.values())}
            if any(reads(trace, key) for key in keys_of(save, captures[id(optimizer)])):
                continue
            for each in _companions(trace, optimizer):
                place = _restored(trace, save, each, captures) if id(each) in held else None
                if place is not None:
                    yield _forgotten(trace, place, save, optimizer, each.cls.name)
                    return
            counted = {key for key, value in save.value.items() if isinstance(key, str) and isinstance(value, (int, Symbol)) and not isinstance(value, bool)}
            place = counts_on(trace, counted)
            if place is not None:
                yield _forgotten(trace, place, save, optimizer, "the count of epochs or steps")
                return


def _restored(trace: Trace, save: Event, each: Instance, captures: dict[int, Event]) -> Span | None:
    """Where the state of a scheduler or scaler is restored."""
    restore = next((event for event in trace.events(Kind.RESTORE) if event.subject is each), None)
    return visible(restore, trace.snapshot.contents) if restore is not None else loaded_from(trace, save, captures[id(each)])


def _not_saved(trace: Trace, optimizers: list[Instance]) -> Iterator[Reported]:
    """Checkpoints whose optimizer some code restores that did not run here, and which lack what belongs to it."""
    captured = distinct(event.subject for event in trace.events(Kind.CAPTURE))
    for optimizer in optimizers:
        lost = [each for each in _companions(trace, optimizer) if not any(each is known for known in captured)]
        for save, _ in _saves(trace, optimizer) if lost else ():
            capture = next(event for event in trace.events(Kind.CAPTURE) if event.subject is optimizer)
            loaded = loaded_from(trace, save, capture)
            if loaded is not None and not _ran(trace, loaded):
                yield _lacking(trace, save, capture, loaded, lost)
                return


def _ran(trace: Trace, place: Span) -> bool:
    """Whether the function around ``place`` is on the way to some step or save: then it shows by itself what it restores, unless it was not asked to."""
    here = around(trace.snapshot, place)
    ways = (span for event in trace.events(Kind.STEP, Kind.SAVE) for span in frames(event) if span.path == place.path)
    if here is None:
        return True
    asked = next((each for each in here.statements if isinstance(each, ast.If) and (here.function is None or each.lineno > here.function.lineno)), None)
    if asked is not None and trace.flags and not any(isinstance(node, ast.Attribute) and node.attr == "step" for node in walk(asked)):
        return False  # with its options on the program did not come here: it asks for a file, which no option names by default
    return any(there.function is here.function for span in set(ways) if (there := around(trace.snapshot, span)) is not None)


def _companions(trace: Trace, optimizer: Instance) -> Iterator[Instance]:
    """The schedulers and scalers in use whose state belongs to a checkpoint of the optimizer, as far as nobody else may restore them."""
    touched = [each for event in trace.events(Kind.OPAQUE) for each in event.subject]
    for scheduler in distinct(event.subject for event in trace.events(Kind.SCHEDULER_STEP)):
        owner = scheduler.fields.get("optimizer") or (optimizer if scheduler.assumed and _alone(trace, optimizer) else None)
        mine = concern(owner, optimizer) is Concern.YES
        if mine and not is_told(trace, scheduler) and not is_caught_up(trace, scheduler) and not any(each is scheduler for each in touched):
            yield scheduler
    for scaler in distinct(event.subject for event in trace.events(Kind.SCALER_UPDATE)):
        used = any(event.detail is scaler and concern(event.subject, optimizer) is Concern.YES for event in trace.events(Kind.STEP))
        if used and scaler.fields.get("scaler: enabled") is not False and not any(each is scaler for each in touched):
            yield scaler


def _alone(trace: Trace, optimizer: Instance) -> bool:
    """Whether no other optimizer steps: a schedule that was made elsewhere is its."""
    return distinct(event.subject for event in trace.events(Kind.STEP)) == [optimizer]


def _saves(trace: Trace, optimizer: Instance) -> Iterator[tuple[Event, set[int]]]:
    """Checkpoints that hold the optimizer's state, with the identities of the objects whose state they hold."""
    states = {id(event.value): event.subject for event in trace.events(Kind.CAPTURE)}
    for save in trace.events(Kind.SAVE):
        held = {id(states[id(value)]) for value in save.value.values() if id(value) in states} if isinstance(save.value, dict) else set()
        if id(optimizer) in held:
            yield save, held


def _reported(trace: Trace, restore: Event, lost: list[Instance]) -> Reported:
    files = trace.snapshot.contents
    at = visible(restore, files)
    kinds = dict.fromkeys(each.cls.name for each in lost)
    saved = next(((save, held) for save, held in _saves(trace, restore.subject) if not any(id(each) in held for each in lost)), None)
    span = _assembled(trace, saved[0], restore.subject) if saved is not None else at
    where = "saves the optimizer's state without" if saved is not None else "restores the optimizer without"
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM,
        span,
        f"`{text(trace.snapshot, span)}` {where} the state of {' and '.join(kinds)}: a resumed run goes on with that of a new one",
        (
            *_listed(restore, files),
            *([Evidence(span, "this checkpoint does not hold it")] if saved is not None else []),
            Evidence(at, "the optimizer is restored here, and what belongs to it is not"),
        ),
        no_fix_because="saving and loading have to change together, and old checkpoints lack the entry",
    )
    return Reported(finding)


def _assembled(trace: Trace, save: Event, optimizer: Instance) -> Span:
    """Where what ``save`` writes is put together: the call that leads there from where the optimizer's state is taken."""
    held = [each for each in trace.events(Kind.CAPTURE) if each.subject is optimizer and any(each.value is value for value in save.value.values())]
    return meeting(save, held[0], trace.snapshot.contents)


def _forgotten(trace: Trace, span: Span, save: Event, optimizer: Instance, restored: str) -> Reported:
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM,
        span,
        f"`{text(trace.snapshot, span)}` restores {restored}, and nothing restores {optimizer.cls.name}, whose state the checkpoint holds too: "
        "a resumed run begins with that of a new one",
        (
            Evidence(_assembled(trace, save, optimizer), "this checkpoint holds the state of both"),
            Evidence(span, "one of them is restored here, the optimizer nowhere"),
        ),
        no_fix_because="the optimizer has to be handed to what loads the checkpoint",
    )
    return Reported(finding)


def _lacking(trace: Trace, save: Event, capture: Event, loaded: Span, lost: list[Instance]) -> Reported:
    files = trace.snapshot.contents
    span = meeting(save, capture, files)
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM,
        span,
        f"`{text(trace.snapshot, span)}` saves the optimizer's state without the state of {' and '.join(dict.fromkeys(each.cls.name for each in lost))}: "
        "a resumed run goes on with that of a new one",
        (
            Evidence(visible(capture, files), "the checkpoint holds the state of the optimizer"),
            Evidence(span, "and nothing of what belongs to it"),
            Evidence(loaded, "the optimizer is restored from it here"),
        ),
        no_fix_because="saving and loading have to change together, and old checkpoints lack the entry",
    )
    return Reported(finding)


def _listed(restore: Event, files: Container[str]) -> Iterator[Evidence]:
    """Where a library's object was told what it saves and restores."""
    holder = restore.detail
    if restore.span.path not in files and isinstance(holder, Instance) and holder.span is not None and holder.span.path in files:
        yield Evidence(holder.span, "what is saved and restored is listed here")


_EXAMPLE = """
import torch

def main(net, loader, resume):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=100{options})
    start = 0
    if resume:
        state = torch.load(resume)
        net.load_state_dict(state["net"])
        optimizer.load_state_dict(state["optimizer"]){load}
        start = state["epoch"]
    for epoch in range(start, 100):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()
        scheduler.step()
        torch.save({{"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch{save}
"""
_SAVED = ', "scheduler": scheduler.state_dict()}, "last.pt")'
_LOAD = '\n        scheduler.load_state_dict(state["scheduler"])'

_CLASS = """
import torch

class Trainer:
    def __init__(self, net, optimizer, lr_scheduler):
        self.net, self.optimizer, self.lr_scheduler = net, optimizer, lr_scheduler

    def save(self, epoch):
        torch.save({{"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict(), "epoch": epoch{save}

    def load(self, path):
        state = torch.load(path)
        self.net.load_state_dict(state["net"])
        {load}

    def train(self, loader, epochs):
        for epoch in range(epochs):
            for x, y in loader:
                self.optimizer.zero_grad()
                torch.nn.functional.mse_loss(self.net(x), y).backward()
                self.optimizer.step()
            self.lr_scheduler.step()
            self.save(epoch)
"""
_OPTIONAL = _CLASS.replace("optimizer, lr_scheduler):", "optimizer, lr_scheduler: torch.optim.lr_scheduler.LRScheduler | None = None):").replace(
    "            self.lr_scheduler.step()", "            if self.lr_scheduler:\n                self.lr_scheduler.step()"
)
_HELPED = _CLASS.replace("torch.save(", "write(").replace("class Trainer", "def write(state, path):\n    torch.save(state, path)\n\nclass Trainer")
_LOAD_OPTIMIZER = 'self.optimizer.load_state_dict(state["optimizer"])'

_LISTED = """
import torch
from fvcore.common.checkpoint import Checkpointer

def main(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=100)
    checkpointer = Checkpointer(net, "out", optimizer=optimizer{more})
    checkpointer.resume_or_load("last.pt")
    for epoch in range(100):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()
        scheduler.step()
        checkpointer.save("last"){mark}
"""

RULE = Rule(
    "incomplete-resume",
    Severity.WARNING,
    "a resumed run forgets the state of its optimizer, scheduler or gradient scaler",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(options="", load="", save='}, "last.pt")  # flagged')),
        Bad(_EXAMPLE.format(options="", load="  # flagged", save=_SAVED)),
        Bad(_EXAMPLE.replace('optimizer.load_state_dict(state["optimizer"])', "pass").format(options="", load=_LOAD + "  # flagged", save=_SAVED)),
        Bad(_LISTED.format(more="", mark="  # flagged")),
        Bad(_CLASS.format(save='}, "last.pt")  # flagged', load=_LOAD_OPTIMIZER)),
        Bad(_OPTIONAL.format(save='}, "last.pt")  # flagged', load=_LOAD_OPTIMIZER)),
        Bad(_HELPED.format(save='}, "last.pt")  # flagged', load=_LOAD_OPTIMIZER)),
        Good(_CLASS.format(save=', "schedule": self.lr_scheduler.state_dict()}, "last.pt")', load=_LOAD_OPTIMIZER)),
        Good(_CLASS.format(save='}, "last.pt")', load='return state["epoch"]')),
        Good(_LISTED.format(more=", scheduler=scheduler", mark="")),
        Good(_EXAMPLE.format(options="", load=_LOAD, save=_SAVED)),
        Good(_EXAMPLE.format(options=", last_epoch=-1 if resume is None else 10", load="", save='}, "last.pt")')),
        Good(_EXAMPLE.format(options="", load='\n        for _ in range(state["epoch"]):\n            scheduler.step()', save='}, "last.pt")')),
    ),
)
