"""Training goes on in evaluation mode after an evaluation.

`model.eval()` turns dropout off and makes batch norm use its running statistics. An evaluation that leaves the model in that
mode, often in a helper in another file, lets every later training step run without dropout and with frozen
statistics until something calls `model.train()` again.

**How to fix it.** Call `model.train()` after the evaluation, or at the top of each training epoch and after each validation inside
it; or let the evaluation restore the mode that it found.

**What is not reported.** A model that is put in evaluation mode and never evaluated before it trains (frozen on purpose), parts
of a model in evaluation mode (frozen batch norm), frozen teachers, forwards in evaluation mode whose outputs are never
back-propagated or only through `autograd.grad`, models that were never trained in training mode before, models without any layer
that behaves differently in the two modes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import InsertAfter, InsertBefore, Proposal, Reported
from analysis.interpreter.values import Instance
from analysis.rule import Bad, Good, Rule
from analysis.rules._modes import mode_matters
from analysis.rules._objects import Concern, concern, confidence_in, contains, distinct, forward_numbers, numbers_in
from analysis.snapshot import Snapshot
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.automaton import Automaton, Letter, LetterOf, Witness
from analysis.trace.events import Event, Kind
from analysis.trace.places import meeting, visible
from analysis.trace.reading import call_at, callee, dotted, statement_of, text

#: Per model. trained: a training step ran in training mode; left: then eval(); evaluated: and a forward that nothing back-propagates.
MODE = Automaton(
    start="new",
    table={
        ("new", "learn"): "trained",
        ("new", "train"): "trained",
        ("new", "eval"): "set",
        ("new", "opaque"): "new",
        ("set", "train"): "trained",
        ("set", "opaque"): "new",
        ("trained", "eval"): "left",
        ("trained", "opaque"): "trained",
        ("left", "evaluate"): "evaluated",
        ("left", "train"): "trained",
        ("left", "opaque"): "trained",
        ("evaluated", "train"): "trained",
        ("evaluated", "opaque"): "trained",
        ("evaluated", "learn"): "trained",
    },
    faults=frozenset({("evaluated", "learn")}),
    neutral=frozenset({"new", "set", "trained"}),
    cures=frozenset({"train"}),
)


def check(trace: Trace) -> Iterator[Reported]:
    """A forward that is back-propagated runs in the mode that an evaluation left."""
    learned = numbers_in(event.value for event in trace.events(Kind.BACKWARD))
    for model in distinct(event.subject for event in trace.events(Kind.EVAL_MODE)):
        if not mode_matters(trace.snapshot, model):
            continue
        letters = _letters(model, learned)
        for witness in trace.run(MODE, letters, Kind.EVAL_MODE, Kind.TRAIN_MODE, Kind.FORWARD, Kind.OPAQUE):
            yield _reported(trace, model, witness)


def _letters(model: Instance, learned: frozenset[int]) -> LetterOf:
    """Events as ``model`` sees them; ``learned`` are the forward calls that some backward reaches."""

    def letter(event: Event) -> Letter | None:
        match event.kind:
            case Kind.EVAL_MODE | Kind.TRAIN_MODE:
                named = "eval" if event.kind is Kind.EVAL_MODE else "train"
                if concern(event.subject, model) is Concern.YES or contains(event.subject, model):
                    return named
                # A part that is switched back may be all that matters; one that is switched off is frozen on purpose.
                return "opaque" if event.kind is Kind.TRAIN_MODE and contains(model, event.subject) else None
            case Kind.FORWARD:
                if concern(event.subject, model) is not Concern.YES:
                    return None
                return "learn" if forward_numbers(event) & learned else "evaluate"
            case _:
                return "opaque" if any(concern(each, model) is Concern.YES for each in event.subject) else None

    return letter


def _reported(trace: Trace, model: Instance, witness: Witness) -> Reported:
    files = trace.snapshot.contents
    left, learns = witness.events[0][0], witness.fault
    span = meeting(left, learns, files)
    name = callee(trace.snapshot, learns.span) or "the model"
    through = f"`{text(trace.snapshot, span)}` leaves `{name}`" if span != visible(left, files) else f"`{name}` stays"
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(model),
        span,
        f"{through} in evaluation mode, and the training that follows runs in it: without dropout, with frozen batch norm statistics",
        _evidence(trace, left, learns),
    )
    return _with_fix(trace, finding, span, name, left, learns)


def _evidence(trace: Trace, left: Event, learns: Event) -> tuple[Evidence, ...]:
    files = trace.snapshot.contents
    return (
        Evidence(visible(left, files), "the evaluation puts the model in evaluation mode"),
        Evidence(visible(learns, files), "this training forward still runs in that mode: nothing has called train() since"),
    )


def _with_fix(trace: Trace, finding: Finding, span: Span, name: str, left: Event, learns: Event) -> Reported:
    """After the call that evaluates, if the model has a name there; else before the forward that trains, if nothing evaluates through it."""
    snapshot = trace.snapshot
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


RULE = Rule(
    "stuck-in-eval",
    Severity.ERROR,
    "training goes on in evaluation mode after an evaluation",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

@torch.no_grad()
def validate(model, loader):
    model.eval()
    return sum(model(x).mean().item() for x in loader)

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        validate(model, held_out)  # flagged
""",
            fixed="""
import torch

@torch.no_grad()
def validate(model, loader):
    model.eval()
    return sum(model(x).mean().item() for x in loader)

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        validate(model, held_out)
        model.train()
""",
        ),
        Bad(
            """
import torch

def loss_of(model, x, y):
    return torch.nn.functional.mse_loss(model(x), y)

def validate(model, loader):
    model.eval()
    with torch.no_grad():
        return sum(loss_of(model, x, y).item() for x, y in loader)

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (x, y) in enumerate(loader):
        loss = loss_of(model, x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(validate(model, held_out))  # flagged
""",
            fixed="""
import torch

def loss_of(model, x, y):
    return torch.nn.functional.mse_loss(model(x), y)

def validate(model, loader):
    model.eval()
    with torch.no_grad():
        return sum(loss_of(model, x, y).item() for x, y in loader)

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (x, y) in enumerate(loader):
        loss = loss_of(model, x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(validate(model, held_out))
            model.train()
""",
        ),
        Good(
            """
import torch

@torch.no_grad()
def validate(model, loader):
    was_training = model.training
    model.eval()
    total = sum(model(x).mean().item() for x in loader)
    model.train(was_training)
    return total

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        validate(model, held_out)
"""
        ),
        Good(
            """
import torch

def train(student, teacher, loader):
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    teacher.eval()
    for epoch in range(10):
        for x in loader:
            with torch.no_grad():
                wanted = teacher(x)
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(student(x), wanted).backward()
            optimizer.step()
"""
        ),
        Good(
            """
import torch
from torch import nn

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        model.train()
        for m in model.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.eval()
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x in held_out:
                model(x)
"""
        ),
    ),
)
